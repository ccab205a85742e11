"""Baselines that scikit-learn learns and torch evaluates: LDA, SVM, trees and forests."""
