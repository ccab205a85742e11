"""Baselines: LDA in closed form; SVM, trees and forests as scikit-learn learns them."""
