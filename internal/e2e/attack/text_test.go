package attack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/internal/app/apptest"
)

// TestBytesThatAreNoTextAreRefused: read leniently they would become another
// request than the one that was sent.
func TestBytesThatAreNoTextAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/sessions", strings.NewReader("{\"message\":\"pay \xff\xfe\"}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+apptest.Key(t, s.dir+"/admin.key"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 4 {
		t.Errorf("the answer is %s", response.Status)
	}
}
