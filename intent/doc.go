// Package intent turns a message into intents: which capabilities of which
// domains the words ask for, with which parameters, and how sure that is. It
// knows manifests only as data; it names no domain and no capability, calls
// nothing and keeps nothing but an index of the catalog.
//
// The Adapter applies the confidence gates; a Matcher reads. Local is the
// matcher that works from the manifests alone.
package intent
