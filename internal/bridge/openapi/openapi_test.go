package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
)

// petshop has parameters in all places, a flat body and one that is not, recursion, read-only
// properties, and a discriminator.
const petshop = `
openapi: VERSION
info: {title: Pets, version: "1"}
servers: [{url: "https://pets.example/v1"}]
components:
  securitySchemes:
    key: {type: apiKey, in: query, name: api_key}
    token: {type: http, scheme: bearer}
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, minLength: 1, example: Rex}
        age: {type: integer, minimum: 0}
        parent: {$ref: '#/components/schemas/Pet'}
    Cat: {type: object, required: [kind], properties: {kind: {type: string, enum: [cat]}}}
    Dog: {type: object, required: [kind], properties: {kind: {type: string, enum: [dog]}}}
    Animal: {oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind}}
paths:
  /pets/{pet_id}:
    parameters: [{name: pet_id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getPet
      tags: [pets]
      summary: Gives a pet.
      parameters:
        - {name: fields, in: query, explode: false, schema: {type: array, items: {type: string}}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: lang, in: cookie, schema: {type: string}}
        - {name: filter, in: query, style: deepObject, schema: {type: object, properties: {age: {type: integer}}}}
      responses: {"200": {description: a pet}}
    delete: {operationId: deletePet, tags: [pets], responses: {"204": {description: gone}}}
  /pets:
    post:
      operationId: addPet
      tags: [pets]
      parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
      responses: {"201": {description: made}}
  /animals:
    put:
      operationId: putAnimal
      tags: [animals]
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Animal'}}}}
      responses: {"200": {description: put}}
  /photo:
    post:
      operationId: addPhoto
      requestBody: {content: {image/png: {schema: {type: string, format: binary}}}}
      responses: {"200": {description: put}}
`

func document(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sent is a request that the API received.
type sent struct {
	method, uri, body string
	header            http.Header
}

// shop answers every request, and sends it to the channel.
func shop(t *testing.T, answer http.HandlerFunc) (string, chan sent) {
	t.Helper()
	asked := make(chan sent, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- sent{r.Method, r.URL.RequestURI(), string(body), r.Header}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func petAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"id":7,"name":"Rex"}`))
}

func bridged(t *testing.T, cfg openapi.Config, overlay string) (*bridge.Domain, string) {
	t.Helper()
	o, err := bridge.ParseOverlay([]byte(overlay))
	if err != nil {
		t.Fatal(err)
	}
	source, err := openapi.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	d, err := bridge.New(bridge.Config{Domain: "pets", Overlay: o}, source)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d)
	t.Cleanup(func() {
		server.Close()
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d, server.URL
}

func execute(t *testing.T, url, capability, parameters string) contracts.ToolResult {
	t.Helper()
	body := `{"capability":"` + capability + `","parameters":` + parameters + `,"context":{"timeout_ms":20000,"idempotency_key":"k1"}}`
	res, err := http.Post(url+"/execute", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out contracts.ToolResult
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// schemaOf returns the schema of a capability in the manifest.
func schemaOf(t *testing.T, url, capability string) string {
	t.Helper()
	res, err := http.Get(url + "/manifest")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var m struct {
		Capabilities []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"capabilities"`
	}
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Capabilities {
		if c.Name == capability {
			return string(c.Schema)
		}
	}
	return ""
}

func TestAnAPIIsADomain(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.0.3", "3.1.0"} {
		base, asked := shop(t, petAnswer)
		d, url := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(petshop, "VERSION", version)), Base: base, Scheme: "key", Secret: "s3cret"}, "")
		found, err := d.Findings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		classes := map[string]contracts.SideEffectClass{}
		for _, f := range found {
			classes[f.Operation] = f.Class
		}
		if classes["getPet"] != contracts.ClassRead || classes["deletePet"] != contracts.ClassWriteIrreversible ||
			classes["addPet"] != contracts.ClassWriteIrreversible || classes["putAnimal"] != contracts.ClassWriteIrreversible || classes["addPhoto"] != "" {
			t.Errorf("%s: %v", version, classes)
		}
		if schema := schemaOf(t, url, "addPet"); !strings.Contains(schema, `"examples":["Rex"]`) {
			t.Errorf("%s: the example of a parameter is not shown: %s", version, schema)
		}
		r := execute(t, url, "getPet", `{"pet_id":"a/b","fields":["id","name"],"X-Trace":"t1","lang":"de","filter":{"age":3}}`)
		got := <-asked
		if !r.OK || r.Facts["name"] != "Rex" || got.uri != "/pets/a%2Fb?api_key=s3cret&fields=id%2Cname&filter%5Bage%5D=3" || got.header.Get("X-Trace") != "t1" || got.header.Get("Cookie") != "lang=de" {
			t.Errorf("%s: %+v %+v", version, r, got)
		}
		r = execute(t, url, "addPet", `{"name":"Rex","parent":{"name":"Old"}}`)
		if got = <-asked; !r.OK || got.body != `{"name":"Rex","parent":{"name":"Old"}}` || got.header.Get("Idempotency-Key") != "k1" {
			t.Errorf("%s: %+v %+v", version, r.Error, got)
		}
		r = execute(t, url, "putAnimal", `{"body":{"kind":"cat"}}`)
		if got = <-asked; !r.OK || got.method != http.MethodPut || got.body != `{"kind":"cat"}` {
			t.Errorf("%s: %+v %+v", version, r.Error, got)
		}
		for name, parameters := range map[string]string{"addPet": `{"id":1,"name":"x"}`, "putAnimal": `{"body":{"kind":"cow"}}`, "getPet": `{"pet_id":".."}`} {
			if r := execute(t, url, name, parameters); r.OK || r.Error.Type != contracts.ErrInvalidParameters {
				t.Errorf("%s: %s takes %s: %+v", version, name, parameters, r)
			}
		}
		if len(asked) != 0 {
			t.Errorf("%s: the API was asked for what does not fit", version)
		}
	}
}

func TestASelectionIsServed(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]int{
		"select: {tags: [pets]}": 3, "select: {paths: [\"/pets/*\"]}": 2, "select: {names: [\"get*\"]}": 1, "": 5,
	} {
		d, _ := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(petshop, "VERSION", "3.1.0"))}, overlay)
		if found, err := d.Findings(t.Context()); err != nil || len(found) != want {
			t.Errorf("%q: %d %v", overlay, len(found), err)
		}
	}
}

func TestWhatAnAPIAnswersIsToldWithItsEffect(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		kind   string
		effect contracts.Effect
		retry  bool
	}{
		"refused":    {http.StatusUnprocessableEntity, contracts.ErrInvalidParameters, contracts.EffectNone, false},
		"forbidden":  {http.StatusForbidden, contracts.ErrUnauthorized, contracts.EffectNone, false},
		"busy":       {http.StatusTooManyRequests, contracts.ErrBudget, contracts.EffectNone, true},
		"broken":     {http.StatusBadGateway, contracts.ErrUpstream, contracts.EffectUnknown, true},
		"redirected": {http.StatusSeeOther, contracts.ErrUpstream, contracts.EffectUnknown, false},
	}
	for name, tt := range tests {
		base, asked := shop(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(`{"detail":"because"}`))
		})
		_, url := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(petshop, "VERSION", "3.0.3")), Base: base}, "")
		r := execute(t, url, "deletePet", `{"pet_id":"1"}`)
		if r.OK || r.Error.Type != tt.kind || r.Error.Effect != tt.effect || r.Error.Retryable != tt.retry || !strings.Contains(r.Error.Message, "because") {
			t.Errorf("%s: %+v", name, r.Error)
		}
		if len(asked) != 1 {
			t.Errorf("%s: a write was sent %d times", name, len(asked))
		}
	}
}

// TestAReadWaitsAsLongAsTheAPIAsksFor: the bridge does not wait, the core retries.
func TestAReadWaitsAsLongAsTheAPIAsksFor(t *testing.T) {
	t.Parallel()
	base, _ := shop(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, url := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(petshop, "VERSION", "3.0.3")), Base: base}, "")
	res, err := http.Post(url+"/execute", "application/json", strings.NewReader(`{"capability":"getPet","parameters":{"pet_id":"1"},"context":{"timeout_ms":20000}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "7" {
		t.Errorf("%s, again after %q", res.Status, res.Header.Get("Retry-After"))
	}
}

// TestADocumentRefersToNothingElseThanItMay: no local file, no internal address. Only the operation
// with the reference is not served.
func TestADocumentRefersToNothingElseThanItMay(t *testing.T) {
	t.Parallel()
	inside, asked := shop(t, petAnswer)
	for name, ref := range map[string]string{
		"a file of the machine": "file:///etc/hostname#/x", "a file above": "../../../../../../etc/hostname#/x",
		"an inside address": inside + "/x.json#/x", "another kind of address": "ftp://elsewhere.example/x#/x",
	} {
		text := "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths:\n  /x:\n    get:\n      operationId: getX\n" +
			"      parameters: [{name: x, in: query, schema: {$ref: '" + ref + "'}}]\n" +
			"      responses: {'200': {description: x, content: {application/json: {schema: {$ref: '" + ref + "'}}}}}\n" +
			"  /y:\n    get:\n      operationId: getY\n      responses: {'200': {description: y}}\n"
		api, err := openapi.New(t.Context(), openapi.Config{Document: document(t, text), Base: "https://x.example"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		faults := map[string]string{}
		defs, err := api.Definitions(t.Context(), nil)
		for _, d := range defs {
			faults[d.Name] = d.Fault
		}
		if err != nil || len(faults) != 2 || !strings.Contains(faults["getX"], "it refers to") || faults["getY"] != "" {
			t.Errorf("%s: %v %v", name, faults, err)
		}
	}
	if len(asked) != 0 {
		t.Error("the inside was asked")
	}
}

// bundled is a document as bundlers write it: references point to wherever a part happens to be.
const bundled = `
openapi: 3.0.3
info: {title: x, version: '1'}
paths:
  /lamps:
    get:
      operationId: listLamps
      parameters: [{name: page, in: query, schema: {type: integer, minimum: 1}}]
      responses:
        '200': {description: x, content: {application/json: {schema: {type: object, properties: {colour: {type: string, enum: [red, green]}}}}}}
    post:
      operationId: addLamp
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [example], properties: {example: {type: string}, colour: {$ref: '#/paths/~1lamps/get/responses/200/content/application~1json/schema/properties/colour'}}}
      responses: {'201': {description: x}}
  /rooms:
    get:
      operationId: listRooms
      parameters: [{$ref: '#/paths/~1lamps/get/parameters/0'}]
      responses: {'200': {description: x, content: {application/json: {schema: {$ref: '#/components/schemas/Absent'}}}}}
    post:
      operationId: addRoom
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Room'}}}}
      responses: {'201': {description: x}}
components:
  schemas:
    Room: {type: object, properties: {doors: {type: array, items: {$ref: '#/components/schemas/Door'}}}}
    Door: {type: object, properties: {room: {$ref: '#/components/schemas/Room'}, lock: {$ref: 'locks/lock.yaml#/Lock'}}}
`

// TestOneReferenceThatLeadsNowhereConcernsOneOperation, and one in a response concerns none.
func TestOneReferenceThatLeadsNowhereConcernsOneOperation(t *testing.T) {
	t.Parallel()
	base, asked := shop(t, petAnswer)
	d, url := bridged(t, openapi.Config{Document: document(t, bundled), Base: base}, "")
	found, err := d.Findings(t.Context())
	if err != nil || len(found) != 4 {
		t.Fatal(found, err)
	}
	for _, f := range found {
		if broken := f.Operation == "addRoom"; f.Served() == broken || broken != strings.Contains(f.Why, "it refers to locks/lock.yaml") {
			t.Errorf("%+v", f)
		}
	}
	if r := execute(t, url, "addLamp", `{"example":"one","colour":"blue"}`); r.OK || !strings.Contains(r.Error.Message, "colour") {
		t.Errorf("a colour that is none of the document's: %+v", r)
	}
	if r := execute(t, url, "listRooms", `{"page":0}`); r.OK {
		t.Errorf("a page below the first: %+v", r)
	}
	if r := execute(t, url, "addLamp", `{"example":"one","colour":"red"}`); !r.OK || len(asked) != 1 {
		t.Errorf("%+v, asked %d times", r, len(asked))
	}
}

// TestOnlyWhatIsSelectedIsRead of a document, and another selection reads it again. References of the
// rest are not followed, except for parts within it.
func TestOnlyWhatIsSelectedIsRead(t *testing.T) {
	t.Parallel()
	asked := 0
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"Lock":{"type":"string"}}`))
	}))
	t.Cleanup(remote.Close)
	text := strings.ReplaceAll(bundled, "locks/lock.yaml", remote.URL)
	host := strings.TrimPrefix(remote.URL, "http://")
	rooms := &bridge.Select{Names: []string{"listRooms"}}
	api, err := openapi.New(t.Context(), openapi.Config{Document: document(t, text), Base: "https://x.example", Remote: []string{host}, Select: rooms})
	if err != nil {
		t.Fatal(err)
	}
	defs, err := api.Definitions(t.Context(), rooms)
	if err != nil || len(defs) != 1 || defs[0].Fault != "" || !strings.Contains(string(defs[0].InputSchema), `"minimum":1`) || asked != 0 {
		t.Errorf("%v, asked %d times: %+v", err, asked, defs)
	}
	if defs, err = api.Definitions(t.Context(), nil); err != nil || len(defs) != 4 || asked == 0 {
		t.Errorf("%v, asked %d times: %+v", err, asked, defs)
	}
}

// TestAReadIsTheSearchOfALookUp: it returns the value and the label of each item.
func TestAReadIsTheSearchOfALookUp(t *testing.T) {
	t.Parallel()
	base, _ := shop(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("page") != "" {
			_, _ = w.Write([]byte(`{"data":{"lamps":"none"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"data":{"lamps":[{"id":7,"name":"Hall"},{"name":"no id"},{"id":"8"}]},"total":3}`))
	})
	_, url := bridged(t, openapi.Config{Document: document(t, bundled), Base: base}, `{"tools":{"listLamps":{"matches":{"items":"data.lamps","value":"id","label":"name"}}}}`)
	r := execute(t, url, "listLamps", `{}`)
	if got, err := json.Marshal(r.Facts); err != nil || string(got) != `{"data":{},"matches":[{"label":"Hall","value":7},{"label":"8","value":"8"}],"total":3}` {
		t.Errorf("%s %v", got, err)
	}
	if r := execute(t, url, "listLamps", `{"page":2}`); r.OK || r.Error.Type != contracts.ErrUpstream || r.Error.Effect != contracts.EffectNone {
		t.Errorf("an answer without the list: %+v", r)
	}
}

// TestACredentialInTheQueryIsNotTold when the API is unreachable.
func TestACredentialInTheQueryIsNotTold(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, url := bridged(t, openapi.Config{Document: document(t, strings.ReplaceAll(petshop, "VERSION", "3.0.3")), Base: gone.URL, Scheme: "key", Secret: "s3cret"}, "")
	if r := execute(t, url, "getPet", `{"pet_id":"1"}`); r.OK || strings.Contains(r.Error.Message, "s3cret") {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "no YAML": "\t:", "Swagger 2": "swagger: '2.0'\ninfo: {title: x, version: '1'}\npaths: {}\n",
		"no address": "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: {}\n",
	} {
		if _, err := openapi.New(t.Context(), openapi.Config{Document: document(t, text)}); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheExampleFitsItsOverlay: an order is placed with the idempotency key of the write.
func TestTheExampleFitsItsOverlay(t *testing.T) {
	t.Parallel()
	const example = "../../../examples/bridges/orders"
	overlay, err := os.ReadFile(example + ".overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	base, asked := shop(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":"A17","item":"lamp","count":3,"status":"open"}`))
	})
	_, url := bridged(t, openapi.Config{Document: example + ".yaml", Base: base, Scheme: "token", Secret: "s3cret"}, string(overlay))
	r := execute(t, url, "place_order", `{"item":"lamp","count":3}`)
	got := <-asked
	if !r.OK || r.Facts["id"] != "A17" || got.header.Get("Idempotency-Key") != "k1" || got.header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("%+v %+v", r, got)
	}
	if again := execute(t, url, "place_order", `{"item":"lamp","count":3}`); !again.OK || len(asked) != 0 {
		t.Errorf("the same key is sent to the API again: %+v", again)
	}
}
