"""Specs of small tables."""

from netwright.data.spec import DataSpec


def table_spec(*groups: int, outputs: int = 2, levels: tuple[int, ...] = ()) -> DataSpec:
    """Features of these columns and so many classes; `levels` are embedded categories."""
    return DataSpec(
        inputs="features",
        input_shape=(len(groups),),
        target="class",
        num_outputs=outputs,
        feature_levels=levels,
        feature_groups=groups if groups[-1] + 1 < len(groups) else (),
    )
