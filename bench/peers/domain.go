package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// domain answers reads of a gauge at once. The first call of a gauge whose name begins with "hold"
// is not answered, so that the requester can be killed while it waits.
type domain struct {
	*httptest.Server

	mu sync.Mutex
	// held are the times of the calls of held gauges, by name.
	held map[string][]time.Time
}

const manifest = `{"schema_version":"1","domain":"gauges","version":"1.0.0","description":"Gauges.","capabilities":[{
 "name":"read_gauge","description":"Reads a gauge.",
 "schema":{"type":"object","properties":{"name":{"type":"string"},"names":{"type":"array","items":{"type":"string"}}}},
 "output_schema":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"integer"}},"required":["name","value"]},
 "metadata":{"side_effect_class":"read","risk_level":"low","decomposition":{"array_params":[{"param_name":"names","single_param_name":"name"}]}}}]}`

func newDomain() *domain {
	d := &domain{held: map[string][]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { answer(w, `{"status":"ok"}`) })
	mux.HandleFunc("GET /manifest", func(w http.ResponseWriter, _ *http.Request) { answer(w, manifest) })
	mux.HandleFunc("POST /execute", d.execute)
	d.Server = httptest.NewServer(mux)
	return d
}

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(body))
}

func (d *domain) execute(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Parameters struct {
			Name string `json:"name"`
		} `json:"parameters"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := call.Parameters.Name
	if strings.HasPrefix(name, "hold") && d.calls(name, true) == 1 {
		<-r.Context().Done()
		return
	}
	answer(w, `{"ok":true,"facts":{"name":"`+name+`","value":42},"summary":"`+name+` is 42"}`)
}

// calls returns the number of calls of a held gauge; with now, it first adds one.
func (d *domain) calls(name string, now bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now {
		d.held[name] = append(d.held[name], time.Now())
	}
	return len(d.held[name])
}
