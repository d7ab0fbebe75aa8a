package eval_test

import (
	"context"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// ready holds an adapter for each way of reading and each catalog: to train it takes
// longer than most tests, and nothing that is read with it changes it.
var ready sync.Map

// trained returns the adapter that is trained on a catalog, the same to all tests.
// reads names what cfg says.
func trained(t *testing.T, reads string, cfg local.Config, catalog *contracts.Catalog) *local.Reader {
	t.Helper()
	train := sync.OnceValues(func() (*local.Reader, error) {
		adapter, err := local.New(cfg)
		if err != nil {
			return nil, err
		}
		_, err = adapter.Settle(context.WithoutCancel(t.Context()), catalog)
		return adapter, err
	})
	once, _ := ready.LoadOrStore(reads+" "+catalog.Snapshot, train)
	get, ok := once.(func() (*local.Reader, error))
	if !ok || catalog.Snapshot == "" {
		t.Fatal("the catalog has no snapshot to know it by")
	}
	adapter, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}
