package httpapi_test

import (
	"testing"

	"github.com/manifold-run/manifold/internal/httpapi"
)

// TestDeadlinesLeaveRoomForTheLongestWait: a read deadline that expires while a handler waits
// cancels its request, so both deadlines must exceed the longest wait.
func TestDeadlinesLeaveRoomForTheLongestWait(t *testing.T) {
	t.Parallel()
	srv := httpapi.HTTPServer(nil)
	if srv.ReadTimeout <= httpapi.MaxWait || srv.WriteTimeout <= httpapi.MaxWait {
		t.Errorf("read %s, write %s; a request may wait %s", srv.ReadTimeout, srv.WriteTimeout, httpapi.MaxWait)
	}
}
