// Package slot fills the parameters of one capability from the words of one
// request. All it knows of a parameter is what its schema and its
// parameter_specs say; a value without evidence in the text stays empty, so
// that somebody asks. Which words are cues, how the words of a request stand and what
// is spelled like a name are in cues, wording and spelling below, which know no
// parameter of it.
package slot
