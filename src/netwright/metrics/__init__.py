"""How good predictions are: pure functions of tensors, and a table of them all.

NaN always means that a metric has no value on this data (`measure_all` leaves it out); predictions
that are NaN themselves are refused.
"""

from netwright.metrics.catalog import METRICS as METRICS
from netwright.metrics.catalog import Kind as Kind
from netwright.metrics.catalog import Metric as Metric
from netwright.metrics.catalog import find_metric as find_metric
from netwright.metrics.catalog import measure_all as measure_all
from netwright.metrics.catalog import metrics_for as metrics_for
from netwright.metrics.classification import accuracy as accuracy
from netwright.metrics.classification import balanced_accuracy as balanced_accuracy
from netwright.metrics.classification import confusion_matrix as confusion_matrix
from netwright.metrics.classification import error_ratio as error_ratio
from netwright.metrics.classification import f1 as f1
from netwright.metrics.classification import precision as precision
from netwright.metrics.classification import recall as recall
from netwright.metrics.labels import label_accuracy as label_accuracy
from netwright.metrics.labels import label_brier as label_brier
from netwright.metrics.labels import label_f1 as label_f1
from netwright.metrics.labels import label_log_loss as label_log_loss
from netwright.metrics.labels import subset_accuracy as subset_accuracy
from netwright.metrics.probability import brier as brier
from netwright.metrics.probability import log_loss as log_loss
from netwright.metrics.probability import top_k_accuracy as top_k_accuracy
from netwright.metrics.ranking import average_precision as average_precision
from netwright.metrics.ranking import roc_auc as roc_auc
from netwright.metrics.regression import mae as mae
from netwright.metrics.regression import mse as mse
from netwright.metrics.regression import r2 as r2
from netwright.metrics.regression import rmse as rmse
from netwright.metrics.segmentation import Threshold as Threshold
from netwright.metrics.segmentation import best_threshold as best_threshold
from netwright.metrics.segmentation import class_dice as class_dice
from netwright.metrics.segmentation import class_iou as class_iou
from netwright.metrics.segmentation import dice as dice
from netwright.metrics.segmentation import mask_tables as mask_tables
from netwright.metrics.segmentation import mean_iou as mean_iou
