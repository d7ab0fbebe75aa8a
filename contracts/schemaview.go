package contracts

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// SchemaView is a simplified view of a JSON Schema: references are resolved, null is removed,
// alternatives of constants become an enumeration, and keywords from several places are merged.
// It serves to read, request and display values. Use Schema to validate them.
type SchemaView struct {
	// Type is the single type of the value, or "" if it is unknown. Of several types, a scalar
	// takes precedence over a list or an object.
	Type        string
	Nullable    bool
	Title       string
	Description string
	Format      string
	// Pattern is an RE2 pattern, or "" if RE2 cannot express it. Of a pattern with lookahead it
	// is only the last part.
	Pattern string
	Enum    []any
	// Labels are the display names of the members of Enum, "" for a member without one. It is nil
	// if no member has one.
	Labels []string
	// Default is nil if there is none. A null default counts as none.
	Default              any
	Minimum, Maximum     *float64
	MinOpen, MaxOpen     bool // the limit itself is excluded
	MinLength, MaxLength *int
	MaxItems             *int
	Items                *SchemaView
	Properties           []PropertyView // in the order of the document
	Required             []string
	// Dependent maps a property to the properties that are required if it is set.
	Dependent map[string][]string
	// Choices are groups of alternatives. One alternative of each group must hold.
	Choices [][]Choice
	// Open means that an object may have other properties. NamePatterns are patterns of further
	// allowed names.
	Open         bool
	NamePatterns []string
	OnlyHere     bool // see KeywordOnlyHere
}

// PropertyView is a property of an object.
type PropertyView struct {
	Name string
	SchemaView
}

// Choice is one alternative of an object.
type Choice struct {
	Required []string
	// Fixed are the property values that the alternative requires.
	Fixed map[string]any
}

// Property returns a property by name.
func (v *SchemaView) Property(name string) (*SchemaView, bool) {
	if v == nil {
		return nil, false
	}
	for i := range v.Properties {
		if v.Properties[i].Name == name {
			return &v.Properties[i].SchemaView, true
		}
	}
	return nil, false
}

// Label returns the display name of a value of the enumeration, or "" if it has none.
func (v *SchemaView) Label(i int) string {
	if i < len(v.Labels) {
		return v.Labels[i]
	}
	return ""
}

// The limits of a view: its depth, and the number of schemas that it reads. Schemas beyond the
// limits have no type.
const (
	maxViewDepth = 8
	maxViewSize  = 4000
)

// ViewSchema returns the view of a schema, which need not compile. Unreadable parts are ignored.
func ViewSchema(raw json.RawMessage) *SchemaView {
	r := newViewer(raw)
	v := r.read(raw, 0, 0)
	return &v
}

// viewer reads the schemas of one document.
type viewer struct {
	root json.RawMessage
	left int
	// objects caches the decoded objects on the path to reference targets by pointer, so that a
	// schema with many definitions is decoded once and not for each reference.
	objects map[string]map[string]json.RawMessage
}

func newViewer(root json.RawMessage) *viewer {
	return &viewer{root: root, left: maxViewSize, objects: map[string]map[string]json.RawMessage{}}
}

// keywords are the keywords of one schema that a view uses, as written.
type keywords struct {
	Ref              string                     `json:"$ref"`
	Type             oneOrMany                  `json:"type"`
	Nullable         bool                       `json:"nullable"`
	Title            string                     `json:"title"`
	Description      string                     `json:"description"`
	Format           string                     `json:"format"`
	Pattern          string                     `json:"pattern"`
	Enum             json.RawMessage            `json:"enum"`
	Const            json.RawMessage            `json:"const"`
	Default          json.RawMessage            `json:"default"`
	Minimum          *float64                   `json:"minimum"`
	Maximum          *float64                   `json:"maximum"`
	ExclusiveMinimum any                        `json:"exclusiveMinimum"`
	ExclusiveMaximum any                        `json:"exclusiveMaximum"`
	MinLength        *int                       `json:"minLength"`
	MaxLength        *int                       `json:"maxLength"`
	MaxItems         *int                       `json:"maxItems"`
	Items            json.RawMessage            `json:"items"`
	PrefixItems      []json.RawMessage          `json:"prefixItems"`
	Properties       json.RawMessage            `json:"properties"`
	PatternNames     map[string]json.RawMessage `json:"patternProperties"`
	Additional       json.RawMessage            `json:"additionalProperties"`
	Required         oneOrMany                  `json:"required"`
	DependentNames   map[string]oneOrMany       `json:"dependentRequired"`
	DependentSchemas map[string]json.RawMessage `json:"dependentSchemas"`
	Dependencies     map[string]json.RawMessage `json:"dependencies"`
	AllOf            []json.RawMessage          `json:"allOf"`
	AnyOf            []json.RawMessage          `json:"anyOf"`
	OneOf            []json.RawMessage          `json:"oneOf"`
	If               json.RawMessage            `json:"if"`
	Then             json.RawMessage            `json:"then"`
	Else             json.RawMessage            `json:"else"`
	OnlyHere         bool                       `json:"x-manifold-only"`
}

// oneOrMany is a list of names. A single name may be written as a string; other types are
// ignored.
type oneOrMany []string

// UnmarshalJSON decodes the names. It never returns an error.
func (t *oneOrMany) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = oneOrMany{one}
		return nil
	}
	var many []any
	_ = json.Unmarshal(data, &many) // a value of another type has no names
	for _, name := range many {
		if s, ok := name.(string); ok {
			*t = append(*t, s)
		}
	}
	return nil
}

// read returns the view of a schema. same counts the schemas already applied to this value.
func (r *viewer) read(raw json.RawMessage, depth, same int) SchemaView {
	none := SchemaView{Open: true}
	if r.left--; r.left < 0 || depth > maxViewDepth || same > MaxSchemaDepth || len(raw) == 0 || raw[0] != '{' {
		return none
	}
	var k keywords
	_ = json.Unmarshal(raw, &k) // a keyword of the wrong type is ignored
	v := r.own(k, depth)
	for _, also := range slices.Concat([]json.RawMessage{r.target(k.Ref)}, k.AllOf) {
		if len(also) > 0 {
			v.join(r.read(also, depth, same+1))
		}
	}
	for _, group := range [][]json.RawMessage{k.OneOf, k.AnyOf} {
		r.choose(&v, group, depth, same+1)
	}
	for _, maybe := range r.conditional(k) { // conditional properties are known, but not required
		v.join(optional(r.read(maybe, depth, same+1)))
	}
	v.settle()
	return v
}

// own returns the view of the keywords of the schema itself.
func (r *viewer) own(k keywords, depth int) SchemaView {
	v := SchemaView{
		Nullable: k.Nullable || slices.Contains(k.Type, "null"),
		Title:    k.Title, Description: k.Description, Format: k.Format,
		Minimum: k.Minimum, Maximum: k.Maximum, MinLength: k.MinLength, MaxLength: k.MaxLength, MaxItems: k.MaxItems,
		Required: k.Required, OnlyHere: k.OnlyHere, Open: openTo(k.Additional),
	}
	v.Type = simplest(k.Type)
	if p, err := readPattern(k.Pattern); err == nil && k.Pattern != "" {
		v.Pattern = p.main()
	}
	v.Default, _ = decoded(k.Default)
	listed, _ := decoded(k.Enum)
	values := listOf(listed)
	if fixed, ok := decoded(k.Const); ok {
		values = []any{fixed}
	}
	for _, value := range values {
		if value == nil {
			v.Nullable = true
			continue
		}
		v.Enum = append(v.Enum, value)
	}
	v.Minimum, v.MinOpen = bound(k.Minimum, k.ExclusiveMinimum)
	v.Maximum, v.MaxOpen = bound(k.Maximum, k.ExclusiveMaximum)
	if item := r.items(k); len(item) > 0 {
		items := r.read(item, depth+1, 0)
		v.Items = &items
	}
	for _, m := range membersOf(k.Properties) {
		v.Properties = append(v.Properties, PropertyView{m.name, r.read(m.raw, depth+1, 0)})
	}
	for _, pattern := range sortedKeys(k.PatternNames) {
		if p, err := readPattern(pattern); err == nil {
			v.NamePatterns = append(v.NamePatterns, p.main())
		}
	}
	for name, needs := range k.DependentNames {
		v.depend(name, needs)
	}
	for name, raw := range k.Dependencies {
		var needs oneOrMany
		if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &needs) == nil {
			v.depend(name, needs)
		}
	}
	return v
}

func (v *SchemaView) depend(name string, needs []string) {
	if v.Dependent == nil {
		v.Dependent = map[string][]string{}
	}
	v.Dependent[name] = append(v.Dependent[name], needs...)
}

// items returns the schema of the elements of a list: that of all elements, or of the first.
func (r *viewer) items(k keywords) json.RawMessage {
	var tuple []json.RawMessage
	switch {
	case len(k.PrefixItems) > 0:
		return k.PrefixItems[0]
	case len(k.Items) > 0 && k.Items[0] == '[':
		if json.Unmarshal(k.Items, &tuple) != nil || len(tuple) == 0 {
			return nil
		}
		return tuple[0]
	default:
		return k.Items
	}
}

// conditional returns the schemas that apply under conditions.
func (r *viewer) conditional(k keywords) []json.RawMessage {
	out := []json.RawMessage{k.If, k.Then, k.Else}
	for _, name := range sortedKeys(k.DependentSchemas) {
		out = append(out, k.DependentSchemas[name])
	}
	for _, name := range sortedKeys(k.Dependencies) {
		out = append(out, k.Dependencies[name])
	}
	return slices.DeleteFunc(out, func(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] != '{' })
}

func optional(v SchemaView) SchemaView {
	return SchemaView{Properties: v.Properties, NamePatterns: v.NamePatterns, Open: true}
}

// choose merges alternatives into v. Null makes v nullable. A single remaining alternative is
// joined, constants become an enumeration, and objects contribute all their properties.
func (r *viewer) choose(v *SchemaView, group []json.RawMessage, depth, same int) {
	var views []SchemaView
	for _, raw := range group {
		if one := r.read(raw, depth, same); one.isNull() {
			v.Nullable = true
		} else {
			views = append(views, one)
		}
	}
	switch {
	case len(views) == 0:
	case len(views) == 1:
		v.join(views[0])
	case !slices.ContainsFunc(views, func(o SchemaView) bool { return len(o.Enum) == 0 }):
		v.enumerate(views)
	case !slices.ContainsFunc(views, func(o SchemaView) bool { return o.Type != "" && o.Type != typeObject }):
		v.unite(views)
	default:
		v.join(plainest(views))
	}
}

// isNull reports whether the schema accepts only null.
func (v *SchemaView) isNull() bool {
	return v.Nullable && v.Type == "" && len(v.Enum) == 0 && len(v.Properties) == 0 && v.Items == nil
}

// enumerate merges alternatives that each list their values into one enumeration.
func (v *SchemaView) enumerate(views []SchemaView) {
	all := SchemaView{Type: views[0].Type, Open: true}
	for _, one := range views {
		for i, value := range one.Enum {
			label := one.Label(i)
			if label == "" && len(one.Enum) == 1 {
				label = one.Title
			}
			all.Enum, all.Labels = append(all.Enum, value), append(all.Labels, label)
		}
		all.Nullable = all.Nullable || one.Nullable
	}
	v.join(all)
}

// unite merges object alternatives into one object. Properties that all of them require are
// required, and the constants that distinguish them become an enumeration.
func (v *SchemaView) unite(views []SchemaView) {
	all := SchemaView{Type: views[0].Type, Required: views[0].Required}
	var group []Choice
	for _, one := range views {
		all.Required = slices.DeleteFunc(slices.Clone(all.Required), func(name string) bool { return !slices.Contains(one.Required, name) })
		all.Open = all.Open || one.Open
		all.NamePatterns = append(all.NamePatterns, one.NamePatterns...)
		choice := Choice{Required: one.Required, Fixed: map[string]any{}}
		for _, p := range one.Properties {
			if len(p.Enum) == 1 {
				choice.Fixed[p.Name] = p.Enum[0]
			}
			if known, ok := all.Property(p.Name); ok {
				known.widen(p.SchemaView)
			} else {
				all.Properties = append(all.Properties, p)
			}
		}
		group = append(group, choice)
		v.Choices = append(v.Choices, one.Choices...)
	}
	if !slices.ContainsFunc(group, func(c Choice) bool { return len(c.Required) == 0 }) {
		v.Choices = append(v.Choices, group)
	}
	open := v.Open
	v.join(all)
	v.Open = open && all.Open
}

// widen adds the values of another alternative to the enumeration. Without values on either side,
// nothing is enumerated.
func (v *SchemaView) widen(o SchemaView) {
	if len(v.Enum) == 0 || len(o.Enum) == 0 {
		v.Enum, v.Labels = nil, nil
		return
	}
	for i, value := range o.Enum {
		if slices.ContainsFunc(v.Enum, func(known any) bool { return reflect.DeepEqual(known, value) }) {
			continue
		}
		v.Labels = append(slices.Clip(v.Labels), make([]string, len(v.Enum)-len(v.Labels))...)
		v.Enum, v.Labels = append(slices.Clip(v.Enum), value), append(v.Labels, o.Label(i))
	}
}

// plainest returns the alternative that is easiest to express in text: a scalar before a list or
// object, without an enumeration, a plain string first.
func plainest(views []SchemaView) SchemaView {
	rank := func(v SchemaView) int {
		switch {
		case v.Type == "array", v.Type == typeObject:
			return 3
		case len(v.Enum) > 0:
			return 2
		case v.Type == "string" && v.Format == "" && v.Pattern == "":
			return 0
		}
		return 1
	}
	best := views[0]
	for _, v := range views[1:] {
		if rank(v) < rank(best) {
			best = v
		}
	}
	return best
}

// join merges the requirements of another schema for the same value. Existing ones take
// precedence.
func (v *SchemaView) join(o SchemaView) {
	for _, text := range []struct{ to, from *string }{
		{&v.Type, &o.Type}, {&v.Title, &o.Title}, {&v.Description, &o.Description}, {&v.Format, &o.Format}, {&v.Pattern, &o.Pattern},
	} {
		if *text.to == "" {
			*text.to = *text.from
		}
	}
	if len(v.Enum) == 0 {
		v.Enum, v.Labels = o.Enum, o.Labels
	}
	if v.Default == nil {
		v.Default = o.Default
	}
	if v.Minimum == nil {
		v.Minimum, v.MinOpen = o.Minimum, o.MinOpen
	}
	if v.Maximum == nil {
		v.Maximum, v.MaxOpen = o.Maximum, o.MaxOpen
	}
	for _, count := range []struct{ to, from **int }{{&v.MinLength, &o.MinLength}, {&v.MaxLength, &o.MaxLength}, {&v.MaxItems, &o.MaxItems}} {
		if *count.to == nil {
			*count.to = *count.from
		}
	}
	if v.Items == nil {
		v.Items = o.Items
	}
	v.joinObject(o)
}

func (v *SchemaView) joinObject(o SchemaView) {
	for _, p := range o.Properties {
		if known, ok := v.Property(p.Name); ok {
			known.join(p.SchemaView)
		} else {
			v.Properties = append(v.Properties, p)
		}
	}
	for _, name := range o.Required {
		if !slices.Contains(v.Required, name) {
			v.Required = append(slices.Clip(v.Required), name)
		}
	}
	for name, needs := range o.Dependent {
		v.depend(name, needs)
	}
	v.Choices = append(v.Choices, o.Choices...)
	v.NamePatterns = append(v.NamePatterns, o.NamePatterns...)
	v.Nullable, v.OnlyHere, v.Open = v.Nullable || o.Nullable, v.OnlyHere || o.OnlyHere, v.Open && o.Open
}

// settle infers the type from the other keywords if it is not declared.
func (v *SchemaView) settle() {
	switch {
	case v.Type != "":
	case len(v.Enum) > 0:
		v.Type = typeOfValue(v.Enum[0])
	case len(v.Properties) > 0:
		v.Type = typeObject
	case v.Items != nil:
		v.Type = "array"
	case v.Pattern != "", v.Format != "", v.MinLength != nil, v.MaxLength != nil:
		v.Type = "string"
	case v.Minimum != nil, v.Maximum != nil:
		v.Type = "number"
	}
	if !slices.ContainsFunc(v.Labels, func(label string) bool { return label != "" }) {
		v.Labels = nil
	}
}

const typeObject = "object"

func typeOfValue(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case float64, json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return typeObject
	}
	return "string"
}

// simplest returns the type that is easiest to express in text.
func simplest(types []string) string {
	single := func(t string) bool { return t != "null" && t != "array" && t != typeObject }
	if i := slices.IndexFunc(types, single); i >= 0 {
		return types[i]
	}
	if i := slices.IndexFunc(types, func(t string) bool { return t != "null" }); i >= 0 {
		return types[i]
	}
	return ""
}

// decoded returns the value of a keyword and whether it is present.
func decoded(raw json.RawMessage) (v any, ok bool) {
	ok = len(raw) > 0 && Decode(raw, &v) == nil
	return v, ok
}

// bound returns a limit and whether it is exclusive. Drafts before 06 declare that by a separate
// boolean.
func bound(limit *float64, exclusive any) (*float64, bool) {
	switch e := exclusive.(type) {
	case float64:
		return &e, true
	case bool:
		return limit, e
	}
	return limit, false
}

func openTo(additional json.RawMessage) bool { return string(bytes.TrimSpace(additional)) != "false" }

// target returns the schema that a reference inside the document points to, or nil.
func (r *viewer) target(ref string) json.RawMessage {
	if ref == "#" {
		return r.root
	}
	if !strings.HasPrefix(ref, "#/") {
		return nil
	}
	at, path := r.root, ""
	for token := range strings.SplitSeq(refPointer(ref)[1:], "/") {
		members, read := r.objects[path]
		if !read {
			_ = json.Unmarshal(at, &members) // a list has none
			r.objects[path] = members
		}
		if members != nil {
			at = members[UnescapeToken(token)]
		} else {
			at = elementOf(at, UnescapeToken(token))
		}
		if len(at) == 0 {
			return nil
		}
		path += "/" + token
	}
	return at
}

// elementOf returns an element of a list.
func elementOf(raw json.RawMessage, token string) json.RawMessage {
	var list []json.RawMessage
	var i int
	if json.Unmarshal(raw, &list) == nil && json.Unmarshal([]byte(token), &i) == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}

// member is a property name with its schema.
type member struct {
	name string
	raw  json.RawMessage
}

// membersOf returns the members of an object in the order of the document.
func membersOf(raw json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var of json.RawMessage
		if err != nil || !ok || dec.Decode(&of) != nil {
			return out
		}
		out = append(out, member{name, of})
	}
	return out
}
