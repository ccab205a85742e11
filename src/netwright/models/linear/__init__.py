"""Linear models: regression, ridge, logistic and softmax regression."""
