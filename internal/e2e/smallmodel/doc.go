// Package smallmodel runs the server with a real language model behind it, one that is far too small to understand
// anything: what it proposes is nonsense in the form of requests, which a server must outlive and must not do. The model
// and llama.cpp are installed by the machine's package managers, so the test runs only when it is asked for:
// make test-model.
package smallmodel
