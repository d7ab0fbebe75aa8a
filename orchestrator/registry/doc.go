// Package registry keeps the catalog of domains: it admits manifests, merges
// them with the registration's overlay and the site's policy, refreshes them,
// watches the health of the services, and publishes immutable catalogs that
// others read without locks.
//
// It does no I/O of its own. Manifests come through Fetcher, state is kept in
// Store, sentences are tried by Tester; all three are declared in ports.go.
package registry
