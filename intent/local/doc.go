// Package local reads messages without a model: it ranks the capabilities of a catalog by
// words and, where there is an encoder, by sentence embeddings, fills parameters, and
// applies the confidence gates that accept, ask or decline. It knows manifests only as
// data, calls nothing and keeps nothing but an index of the catalog.
package local
