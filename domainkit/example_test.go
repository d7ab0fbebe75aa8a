package domainkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// The parameters of a forecast: tags become the schema.
type forecastQuery struct {
	City string `json:"city" description:"Name of a city." min:"1"`
	Days int    `json:"days" min:"1" max:"14" default:"3"`
}

type forecast struct {
	City string  `json:"city"`
	High float64 `json:"high"`
}

func (f forecast) Summary() string { return fmt.Sprintf("%s: up to %.0f °C", f.City, f.High) }

// A domain with one read. In a program, svc.Run(ctx, ":8090") serves it.
func ExampleAdd() {
	svc, err := domainkit.New(domainkit.Config{Domain: "weather", Version: "1.0.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = domainkit.Add(svc, domainkit.Capability{
		Name: "get_forecast", Description: "The forecast for a city.",
		Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
	}, func(_ context.Context, _ domainkit.Call, q forecastQuery) (forecast, error) {
		if q.City == "Atlantis" {
			return forecast{}, domainkit.Refusef(contracts.ErrNotFound, "there is no city %q", q.City)
		}
		return forecast{City: q.City, High: float64(20 + q.Days)}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(send(svc, `{"capability":"get_forecast","parameters":{"city":"Lisbon"}}`))
	fmt.Println(send(svc, `{"capability":"get_forecast","parameters":{"city":"Atlantis"}}`))
	// Output:
	// {"ok":true,"summary":"Lisbon: up to 23 °C","facts":{"city":"Lisbon","high":23}}
	// {"ok":false,"summary":"there is no city \"Atlantis\"","error":{"type":"not_found","message":"there is no city \"Atlantis\"","effect":"none"}}
}

// A keyed write is executed once per key. Resolve looks in the domain's own records after an
// interrupted execution.
func ExampleResolver() {
	type booking struct {
		Room string `json:"room"`
	}
	type booked struct {
		Room string `json:"room"`
		ID   int    `json:"id"`
	}
	made := map[string]booked{} // by key: the domain's own records
	svc, err := domainkit.New(domainkit.Config{Domain: "rooms", Version: "1.0.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = domainkit.Add(svc, domainkit.Capability{
		Name: "book_room", Description: "Books a room.",
		Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed},
		Resolve: func(_ context.Context, call domainkit.Call, _ json.RawMessage) (domainkit.Resolution, error) {
			if b, ok := made[call.IdempotencyKey]; ok {
				return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: b}, nil
			}
			return domainkit.Resolution{Effect: contracts.EffectNone}, nil
		},
	}, func(_ context.Context, call domainkit.Call, in booking) (booked, error) {
		made[call.IdempotencyKey] = booked{Room: in.Room, ID: len(made) + 1}
		return booked{}, errors.New("the connection broke after the booking")
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := `{"capability":"book_room","parameters":{"room":"blue"},"context":{"idempotency_key":"run-1/n1/1"}}`
	fmt.Println(send(svc, request))
	fmt.Println(send(svc, request))
	fmt.Println("bookings:", len(made))
	// Output:
	// {"ok":false,"summary":"book_room met an internal error; the log of the domain says more","error":{"type":"internal","message":"book_room met an internal error; the log of the domain says more","effect":"unknown"}}
	// {"ok":true,"summary":"room: blue, id: 1","facts":{"id":1,"room":"blue"}}
	// bookings: 1
}

// AddRaw takes schemas written by hand.
func ExampleAddRaw() {
	svc, err := domainkit.New(domainkit.Config{Domain: "tools", Version: "1.0.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = domainkit.AddRaw(svc, domainkit.Capability{
		Name: "echo", Description: "Gives its parameters back.",
		Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
		Schema:   json.RawMessage(`{"type":"object","minProperties":1}`),
	}, func(_ context.Context, _ domainkit.Call, parameters json.RawMessage) (contracts.ToolResult, error) {
		facts := map[string]any{}
		if err := json.Unmarshal(parameters, &facts); err != nil {
			return contracts.ToolResult{}, err
		}
		return contracts.ToolResult{OK: true, Summary: "an echo", Facts: facts}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(send(svc, `{"capability":"echo","parameters":{"a":[1,2]}}`))
	// Output:
	// {"ok":true,"summary":"an echo","facts":{"a":[1,2]}}
}

// Hints add what is not code: example messages, questions, the display of results.
func ExampleService_Manifest() {
	svc, err := domainkit.New(domainkit.Config{
		Domain: "weather", Version: "1.0.0",
		Hints: []byte(`{"title": "Weather", "capabilities": [
			{"name": "get_forecast", "metadata": {"intent_hints": {"examples": ["will it rain in Oslo"]}}}]}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = domainkit.Add(svc, domainkit.Capability{
		Name: "get_forecast", Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead},
	}, func(context.Context, domainkit.Call, forecastQuery) (forecast, error) { return forecast{}, nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	manifest, err := svc.Manifest()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(manifest.Title, manifest.Capabilities[0].Metadata.IntentHints.Examples)
	fmt.Println(string(manifest.Capabilities[0].Schema))
	// Output:
	// Weather [will it rain in Oslo]
	// {"type":"object","properties":{"city":{"type":"string","description":"Name of a city.","minLength":1},"days":{"type":"integer","minimum":1,"maximum":14,"default":3}},"required":["city"],"additionalProperties":false}
}

// send posts to a service without a network.
func send(svc *domainkit.Service, body string) string {
	handler, err := svc.Handler()
	if err != nil {
		return err.Error()
	}
	r := httptest.NewRequest(http.MethodPost, "/execute", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Body.String()
}
