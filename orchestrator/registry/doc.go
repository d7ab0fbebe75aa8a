// Package registry maintains the catalog of domains: it admits manifests, merges them with the
// registration's overlay and the site's policy, refreshes them, checks the health of the services,
// and publishes immutable catalogs that are read without locks.
//
// It does no I/O itself. Manifests come through Fetcher, state is stored in Store, test sentences
// are run by Tester; all three are declared in ports.go.
package registry
