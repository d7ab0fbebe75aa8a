// Package slots fills the parameters of one capability from the words of one request:
// it compiles schemas and parameter specs, segments a message, matches words across
// languages, weighs the evidence for each value and assigns values to parameters.
//
// It must not invent a value: what has no evidence in the text stays empty, so that
// somebody asks. It knows no parameter beyond its schema and its specs.
package slots
