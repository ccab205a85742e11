"""The card of every metric: one sentence, its formula, its symbols and where it comes from.

Shapes: N samples, C classes, K labels.
"""

from netwright.core.card import Card

_COUNTS = {
    "n_{jk}": "samples of class j that were called k, an entry of the confusion matrix (C, C)",
}
_RETRIEVAL = "van Rijsbergen, Information Retrieval (1979), chapter 7"
_MULTI_LABEL = "Zhang and Zhou, A Review on Multi-Label Learning Algorithms (2014)"
_PROBABILITY = {
    "N": "the number of samples",
    "p_{ik}": "the probability of class or label k for sample i, (N, C)",
    "y_{ik}": "1 where sample i is of class or label k, else 0, (N, C)",
}
_REALS = {
    r"\hat y_i": "the prediction, (N,); several outputs give the mean of their values",
    "y_i": "the target, (N,)",
}

ACCURACY = Card(
    sentence="The share of correct predictions; each label, token or tag counts as one prediction.",
    formula=r"\frac{\sum_k n_{kk}}{\sum_{j,k} n_{jk}}",
    symbols=_COUNTS,
    source="Hastie et al., The Elements of Statistical Learning (2009), section 7.2",
)

SUBSET_ACCURACY = Card(
    sentence="The share of samples on which every label is right.",
    formula=r"\frac{1}{N} \sum_i \prod_k [\hat y_{ik} = y_{ik}]",
    symbols={
        "N": "the number of samples",
        r"\hat y_{ik}": "1 where label k is given to sample i, else 0, (N, K)",
        "y_{ik}": "1 where sample i has label k, else 0, (N, K)",
    },
    source=_MULTI_LABEL,
)

SEQUENCE_ACCURACY = Card(
    sentence="The share of sequences in which every token that counts is right.",
    formula=r"\frac{1}{N} \sum_i \prod_t [\hat y_{it} = y_{it}]",
    symbols={
        "N": "the number of sequences",
        r"\hat y_{it}": "what was said of token t of sequence i, (N, T)",
        "y_{it}": "what is true of it, (N, T)",
    },
    source="Manning, Part-of-Speech Tagging from 97% to 100%: Is It Time for Some Linguistics? "
    "(2011)",
)

_SPANS = {
    "s_i": "the first token of the span that was said of question i",
    "e_i": "its last token",
    "s_{ia}": "the first token of answer a to it; the best of several counts",
    "e_{ia}": "its last token",
    "N": "the number of questions",
}

EXACT_MATCH = Card(
    sentence="The share of spans that are right from the first token to the last.",
    formula=r"\frac{1}{N} \sum_i \max_a [s_i = s_{ia} \wedge e_i = e_{ia}]",
    symbols=_SPANS,
    source="Rajpurkar et al., SQuAD (2016), section 6.1; there texts are compared without case, "
    "punctuation and articles",
)

SPAN_F1 = Card(
    sentence="The harmonic mean of precision and recall over the tokens of said and true spans.",
    formula=r"\frac{1}{N} \sum_i \max_a"
    r" \frac{2 |[s_i, e_i] \cap [s_{ia}, e_{ia}]|}{|[s_i, e_i]| + |[s_{ia}, e_{ia}]|}",
    symbols=_SPANS,
    source="Rajpurkar et al., SQuAD (2016), section 6.1; there words are compared, wherever they "
    "stand",
)

BALANCED_ACCURACY = Card(
    sentence="The mean, over the classes that occur, of the share of each that is found.",
    formula=r"\frac{1}{C} \sum_j \frac{n_{jj}}{\sum_k n_{jk}}",
    symbols={**_COUNTS, "C": "the number of classes that occur as targets"},
    source="Brodersen et al., The Balanced Accuracy and Its Posterior Distribution (2010)",
)

PRECISION = Card(
    sentence="The share of predictions of a class that are correct: class 1 for two classes, else "
    "the mean over the classes.",
    formula=r"P_k = \frac{n_{kk}}{\sum_j n_{jk}}",
    symbols=_COUNTS,
    source=_RETRIEVAL,
)

RECALL = Card(
    sentence="The share of a class that is found: class 1 for two classes, else the mean over the "
    "classes.",
    formula=r"R_j = \frac{n_{jj}}{\sum_k n_{jk}}",
    symbols=_COUNTS,
    source=_RETRIEVAL,
)

F1 = Card(
    sentence="The harmonic mean of precision and recall: class 1 for two classes, else the mean "
    "over the classes, tags or labels.",
    formula=r"F_k = \frac{2 P_k R_k}{P_k + R_k} "
    r"= \frac{2 n_{kk}}{\sum_j n_{jk} + \sum_j n_{kj}}",
    symbols={**_COUNTS, "P_k": "precision of class k", "R_k": "recall of class k"},
    source=_RETRIEVAL,
    misprint="The harmonic mean of the mean precision and the mean recall is another "
    "number, never a smaller one; the macro F1 is the mean of the F_k.",
)

ROC_AUC = Card(
    sentence="The chance that a positive scores above a negative, a tie counting half; "
    "the mean of one against the rest for more than two classes.",
    formula=r"\Pr(s^+ > s^-) + \tfrac{1}{2} \Pr(s^+ = s^-)",
    symbols={"s^+": "the score of a positive sample", "s^-": "the score of a negative one"},
    source="Hanley and McNeil, The Meaning and Use of the Area under a ROC Curve (1982)",
)

AVERAGE_PRECISION = Card(
    sentence="The precision at the threshold that lets each positive in, averaged over "
    "the positives; the mean of one against the rest for more than two classes.",
    formula=r"\sum_t (R_t - R_{t-1}) P_t",
    symbols={
        "t": "the different scores, from the highest down",
        "P_t": "precision of what scores at least t",
        "R_t": "recall of what scores at least t",
    },
    source="Manning et al., Introduction to Information Retrieval (2008), section 8.4",
    misprint="Joining the points of the curve by straight lines (the trapezoid rule) "
    "promises too much; the curve goes in steps.",
)

LOG_LOSS = Card(
    sentence="The mean of minus the log of the probability of what is true, in nats; "
    "of several labels each is an answer.",
    formula=r"-\frac{1}{N} \sum_i \sum_k y_{ik} \log p_{ik}",
    symbols=_PROBABILITY,
    source="Good, Rational Decisions (1952)",
)

BRIER = Card(
    sentence="The mean squared distance of the probabilities from the truth: of class 1 "
    "for two classes, summed over more, averaged over labels.",
    formula=r"\frac{1}{N} \sum_i \sum_k (p_{ik} - y_{ik})^2, \quad"
    r" C = 2:\; \frac{1}{N} \sum_i (p_{i1} - y_{i1})^2",
    symbols=_PROBABILITY,
    source="Brier, Verification of Forecasts Expressed in Terms of Probability (1950)",
)

TOP_5_ACCURACY = Card(
    sentence="The share of samples whose class is among the five likeliest; "
    "left out with five classes or fewer.",
    formula=r"\frac{1}{N} \sum_i [\operatorname{rank}_i(y_i) \le 5]",
    symbols={
        "N": "the number of samples",
        "y_i": "the class of sample i",
        r"\operatorname{rank}_i": "the place of a class by falling probability, from 1",
    },
    source="Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge (2015)",
)

_MASK_COUNTS = {
    "n_{jk}": "pixels of class j that were called k, an entry of the table (C, C) of all images",
}

PIXEL_ACCURACY = Card(
    sentence="The share of pixels whose class is right; large classes decide it.",
    formula=r"\frac{\sum_k n_{kk}}{\sum_{j,k} n_{jk}}",
    symbols=_MASK_COUNTS,
    source="Long et al., Fully Convolutional Networks for Semantic Segmentation (2015)",
)

MEAN_IOU = Card(
    sentence="Intersection over union of prediction and target, averaged over the classes that "
    "occur.",
    formula=r"\frac{1}{C} \sum_k \frac{n_{kk}}{\sum_j n_{kj} + \sum_j n_{jk} - n_{kk}},"
    r" \quad n_{jk} \text{ of all images}",
    symbols={**_MASK_COUNTS, "C": "the number of classes that occur"},
    source="Jaccard, The Distribution of the Flora in the Alpine Zone (1912)",
)

DICE = Card(
    sentence="Overlap of prediction and target over the mean of their sizes, averaged over the "
    "classes that occur; for one class it is its F1.",
    formula=r"\frac{1}{C} \sum_k \frac{2 n_{kk}}{\sum_j n_{kj} + \sum_j n_{jk}},"
    r" \quad n_{jk} \text{ of all images}",
    symbols={**_MASK_COUNTS, "C": "the number of classes that occur"},
    source="Dice, Measures of the Amount of Ecologic Association between Species (1945)",
)

RMSE = Card(
    sentence="The root of the mean squared error, in the unit of the target.",
    formula=r"\sqrt{\frac{1}{N} \sum_i (\hat y_i - y_i)^2}",
    symbols={**_REALS, "N": "the number of samples"},
    source="Willmott and Matsuura, Advantages of the MAE over the RMSE (2005)",
)

MAE = Card(
    sentence="The mean absolute error, in the unit of the target.",
    formula=r"\frac{1}{N} \sum_i |\hat y_i - y_i|",
    symbols={**_REALS, "N": "the number of samples"},
    source="Willmott and Matsuura, Advantages of the MAE over the RMSE (2005)",
)

R2 = Card(
    sentence="The share of the target's variance that is explained; 0 is no better than the mean.",
    formula=r"1 - \frac{\sum_i (\hat y_i - y_i)^2}{\sum_i (\bar y - y_i)^2}",
    symbols={**_REALS, r"\bar y": "the mean of the targets"},
    source="Wright, Correlation and Causation (1921)",
)

_NATS = {
    "n": "the number of tokens that count, of all texts together",
    "p_t(y_t)": "the probability that was given to the token which came",
}

PERPLEXITY = Card(
    sentence="The number of equally likely tokens that would be as uncertain; a uniform guess "
    "among V tokens has V.",
    formula=r"\exp\left(-\frac{1}{n} \sum_t \log p_t(y_t)\right)",
    symbols=_NATS,
    source="Jelinek, Mercer, Bahl and Baker, Perplexity: A Measure of the Difficulty of Speech "
    "Recognition Tasks (1977)",
    misprint="The mean of the perplexities of texts or batches is another number, never a smaller "
    "one than that of them all; the mean is taken before exp.",
)

BITS_PER_TOKEN = Card(
    sentence="Bits per token if the probabilities were used to compress the text.",
    formula=r"-\frac{1}{n} \sum_t \log_2 p_t(y_t)",
    symbols=_NATS,
    source="Shannon, Prediction and Entropy of Printed English (1951)",
)

_BOXES = {
    "A_i": "the true box of object i",
    "B_i": "the said box of its class that is matched with it",
    "M": "the number of true objects",
}

MEAN_BOX_IOU = Card(
    sentence="The mean over all objects of the overlap of the true box and the said one; an object "
    "that was missed, or called by another class, counts 0.",
    formula=r"\frac{1}{M} \sum_i \frac{|A_i \cap B_i|}{|A_i \cup B_i|}",
    symbols=_BOXES,
    source="Everingham et al., The PASCAL Visual Object Classes Challenge (2010)",
)

BOX_F1 = Card(
    sentence="The harmonic mean of precision and recall of objects; found is one of the right "
    "class whose box overlaps by an IoU of at least 1/2.",
    formula=r"\frac{2 h}{s + M}, \quad h = \left|\left\{i : \mathrm{IoU}(A_i, B_i) \ge "
    r"\tfrac{1}{2}\right\}\right|",
    symbols={**_BOXES, "s": "the number of said objects"},
    source="Everingham et al., The PASCAL Visual Object Classes Challenge (2010)",
)
