"""Each mark is on the settings that it is for."""

from netwright.train.setting_marks import ConvexSearch, Heeded, Resume, Typed
from netwright.train.settings import settings_marked
from tests.repetition import for_each

# What checkpoints, kept members and commands of earlier versions rely on.
MARKED = {
    Resume.FREE: "max_steps max_time threshold calibrate patience restore_best on_non_finite "
    "log_every save_every save_steps keep keep_path track doctor profile activation_checkpointing "
    "capture onednn parallel offload rank_timeout workers device",
    Resume.LENGTH: "epochs max_steps",
    Resume.IF_GIVEN: "loss_options target_transform by_length eval_every",
    Resume.STEERS: "lr weight_decay optimizer_options kernel schedule schedule_options warmup",
    Resume.REGROUPS: "optimizer unfreeze_every layer_decay penalize",
    Resume.READS: "batch_size accumulate",
    Heeded.BY_EACH_MEMBER: "max_steps patience restore_best on_non_finite",
    Heeded.BY_ANY_RULE: "max_time class_weight threshold calibrate track doctor rank_timeout "
    "workers device",
    Typed.AS_OPTION: "epochs batch_size max_steps max_time optimizer lr weight_decay freeze "
    "unfreeze_every layer_decay patience eval_every track profile precision device",
    ConvexSearch.IMPOSSIBLE: "batch_size accumulate optimizer_options kernel schedule "
    "schedule_options warmup clip_norm clip_value unfreeze_every layer_decay on_non_finite "
    "precision",
    ConvexSearch.OTHER_LOSS: "weight_decay average freeze l1 input_noise label_noise weight_noise "
    "gradient_noise output_noise augment",
}


@for_each("mark", MARKED)
def test_a_mark_is_on_these_settings(mark: Resume | Heeded | ConvexSearch | Typed) -> None:
    assert settings_marked(mark) == tuple(MARKED[mark].split())


def test_a_setting_has_one_meaning_for_a_run_that_is_resumed() -> None:
    meanings = [mark for mark in Resume if mark is not Resume.FREE]
    marked = [name for mark in meanings for name in settings_marked(mark)]
    assert len(marked) == len(set(marked))
    assert set(marked) & set(settings_marked(Resume.FREE)) == {"max_steps"}  # where it is no length
