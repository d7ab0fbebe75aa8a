// Package local reads messages without a model. It ranks the capabilities of a catalog by words
// and, with an encoder, by sentence embeddings, fills parameters, and applies the confidence gates
// that accept, ask or decline. It knows manifests only as data, performs no calls and keeps no
// state but an index of the catalog.
package local
