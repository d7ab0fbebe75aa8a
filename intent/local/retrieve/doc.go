// Package retrieve holds what candidates are ranked and trained with: sparse weight
// matrices, quantized sentence vectors, logistic regression, cross-validation folds,
// and the encoding of trained models for the model cache.
//
// It must not read parameters or decide what a message asks for; package local does
// the ranking with it.
package retrieve
