"""Images from files: folders of classes, pairs of image and mask, published sets."""
