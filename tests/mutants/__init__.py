"""Small breakages of the translation, and whether its tests notice: a check that cannot fail is a defect."""
