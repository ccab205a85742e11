"""What an estimator does not take, by the names that `nw.fit` and scikit-learn have for it.

The nearest name of a setting would mislead here: `max_iter` looks like `max_time`, and is `epochs`.
"""

INSTEAD = {
    # Of `nw.fit`.
    "data": "give X and y to fit",
    "kind": "it is the estimator's own",
    "missing": "put a SimpleImputer before it in a pipeline",
    "out": "give run_folder",
    "seed": "give random_state",
    "test_size": "hold rows out before fit",
    # Of scikit-learn; none of them is a setting of a model.
    "alpha": "give l2 or l1, or weight_decay of a network",
    "hidden_layer_sizes": "give hidden",
    "learning_rate_init": "give lr",
    "max_iter": "give epochs",
    "n_estimators": "give trees, stages or members, by the model",
    "n_iter_no_change": "give patience",
    "n_jobs": "torch.set_num_threads says how many threads there are",
    "sample_weight": "give it to fit",
    "validation_fraction": "give val_size",
    "verbose": "history_ has all that was measured",
    "warm_start": "go on by partial_fit",
}
