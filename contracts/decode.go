package contracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Decode decodes one JSON text and ignores unknown keys. Numbers in values of type any become
// float64, except integers from 2^53, which stay json.Number so that ids keep their digits. Every
// decoder in this package follows this rule.
func Decode(data []byte, v any) error {
	if !hasLongNumber(data) { // then every number is a float64
		return json.Unmarshal(data, v)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return json.Unmarshal(data, new(json.RawMessage)) // the error of encoding/json for trailing data
	}
	return settleNumbers(reflect.ValueOf(v))
}

// longDigits is the number of digits of 2^53, the smallest integer that is kept as json.Number.
const longDigits = 16

// hasLongNumber reports whether data contains a run of at least longDigits digits. It skips most
// of the bytes.
func hasLongNumber(data []byte) bool {
	for i := longDigits - 1; i < len(data); {
		start := i
		for start >= 0 && '0' <= data[start] && data[start] <= '9' {
			start--
		}
		if i-start >= longDigits {
			return true
		}
		i = start + longDigits
	}
	return false
}

// Normalize returns v as decoded JSON: maps, lists, strings, booleans, nil, and numbers by the
// rule of Decode. Structs and typed maps are converted through their JSON encoding. The result
// shares no memory with v.
func Normalize(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%v is no JSON number", v)
		}
		return v, nil
	case int:
		return settleNumber(json.Number(strconv.Itoa(v)))
	case json.Number:
		return settleNumber(v)
	case map[string]any:
		return normalizeMap(v)
	case []any:
		return normalizeList(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = Decode(raw, &out)
	return out, err
}

// NormalizeShared is like Normalize but returns v itself if it is already decoded JSON. The
// caller must not modify the result.
func NormalizeShared(v any) (any, error) {
	if isNormal(v) {
		return v, nil
	}
	return Normalize(v)
}

func isNormal(v any) bool {
	switch v := v.(type) {
	case nil, bool, string:
		return true
	case float64:
		return !math.IsInf(v, 0) && !math.IsNaN(v)
	case map[string]any:
		for _, item := range v {
			if !isNormal(item) {
				return false
			}
		}
		return v != nil
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(item any) bool { return !isNormal(item) })
	}
	return false
}

func normalizeMap(m map[string]any) (any, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]any, len(m))
	for name, item := range m {
		norm, err := Normalize(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = norm
	}
	return out, nil
}

func normalizeList(items []any) (any, error) {
	if items == nil {
		return nil, nil
	}
	out := make([]any, len(items))
	for i, item := range items {
		norm, err := Normalize(item)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = norm
	}
	return out, nil
}

// settleNumber converts a number to float64 unless it is an integer from 2^53, which a float64
// may not represent exactly.
func settleNumber(n json.Number) (any, error) {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("the number %.40s is out of range", n)
	}
	if math.Abs(f) >= 1<<53 && isInteger(string(n)) {
		return n, nil
	}
	return f, nil
}

// isInteger reports whether a JSON number consists of digits only, with an optional minus sign.
func isInteger(text string) bool {
	for i, r := range text {
		if (r < '0' || r > '9') && (i > 0 || r != '-') {
			return false
		}
	}
	return true
}

// settleNumbers applies settleNumber to every value of type any inside v.
func settleNumbers(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return settleNumbers(v.Elem())
		}
	case reflect.Interface:
		return settleInterface(v)
	case reflect.Struct:
		for field, value := range v.Fields() {
			if !field.IsExported() {
				continue
			}
			if err := settleNumbers(value); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if mayHoldAny(v.Type().Elem()) {
			for i := range v.Len() {
				if err := settleNumbers(v.Index(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Map:
		return settleMap(v)
	default:
	}
	return nil
}

func settleInterface(v reflect.Value) error {
	if v.IsNil() || !v.CanSet() {
		return nil
	}
	settled, err := settleAny(v.Interface())
	if err != nil {
		return err
	}
	if settled != nil {
		v.Set(reflect.ValueOf(settled))
	}
	return nil
}

// settleMap replaces the values of a map, which reflection cannot modify in place.
func settleMap(v reflect.Value) error {
	if !mayHoldAny(v.Type().Elem()) {
		return nil
	}
	for _, key := range v.MapKeys() {
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(v.MapIndex(key))
		if err := settleNumbers(item); err != nil {
			return err
		}
		v.SetMapIndex(key, item)
	}
	return nil
}

// settleAny modifies maps and lists in place and returns the converted value.
func settleAny(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return settleNumber(v)
	case map[string]any:
		for name, item := range v {
			if v[name], err = settleAny(item); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			if v[i], err = settleAny(item); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// mayHoldAny reports whether elements of type t can contain values of type any. It spares byte
// slices and other plain elements the traversal.
func mayHoldAny(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer:
		return true
	default:
		return false
	}
}
