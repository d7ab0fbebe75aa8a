// Package retrieve provides the models that rank candidates: sparse weight matrices, quantized
// sentence embeddings, logistic regression, cross-validation folds, and the serialization of
// trained models for the model cache.
//
// It must not read parameters or decide what a message asks for; package local does the ranking.
package retrieve
