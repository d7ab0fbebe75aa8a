package expr

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/manifold-run/manifold/contracts"
)

// adapter converts decoded JSON to CEL values: whole numbers within 64 bits are int, others double.
// A null member of an object is absent, so that has() agrees with exists.
type adapter struct{}

// NativeToValue converts one value; members of objects and lists are converted when they are read.
func (a adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case ref.Val:
		return v
	case nil:
		return types.NullValue
	case bool:
		return types.Bool(v)
	case string:
		return types.String(v)
	case float64:
		return numberValue(v)
	case json.Number:
		return exactValue(v)
	case map[string]any:
		return newObject(v)
	case []any:
		return types.NewDynamicList(a, v)
	case Column:
		return types.NewDynamicList(a, []any(v))
	case []ref.Val, []int, int, int64, map[ref.Val]ref.Val:
		return types.DefaultTypeAdapter.NativeToValue(v) // made by CEL itself
	}
	norm, err := contracts.Normalize(v)
	if err != nil {
		return types.NewErr("%T is no JSON: %v", v, err)
	}
	return a.NativeToValue(norm)
}

// numberValue returns an int for whole numbers within 64 bits, else a double.
func numberValue(v float64) ref.Val {
	const most = 1 << 63
	if v == math.Trunc(v) && v >= -most && v < most {
		return types.Int(int64(v))
	}
	return types.Double(v)
}

func exactValue(n json.Number) ref.Val {
	if whole, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return types.Int(whole)
	}
	v, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return types.NewErr("%s is no number: %v", n, err)
	}
	return numberValue(v)
}

// object is a JSON object without its null members. It is iterated in the order of its names, so
// that macros are deterministic.
type object struct{ traits.Mapper }

func newObject(members map[string]any) ref.Val {
	for _, v := range members {
		if v == nil {
			members = maps.Clone(members)
			maps.DeleteFunc(members, func(_ string, v any) bool { return v == nil })
			break
		}
	}
	return object{types.NewStringInterfaceMap(adapter{}, members)}
}

// Iterator returns the names in order.
func (o object) Iterator() traits.Iterator {
	var names []string
	for it := o.Mapper.Iterator(); it.HasNext() == types.True; {
		names = append(names, fmt.Sprint(it.Next().Value()))
	}
	slices.Sort(names)
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return types.NewDynamicList(adapter{}, list).Iterator()
}

// toJSON converts a result to JSON. Timestamps are formatted as RFC 3339. Values that JSON cannot
// represent are an error.
func toJSON(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.String:
		return string(v), nil
	case types.Int:
		return json.Number(strconv.FormatInt(int64(v), 10)), nil
	case types.Uint:
		return json.Number(strconv.FormatUint(uint64(v), 10)), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%v is no JSON number", float64(v))
		}
		return float64(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), nil
	case traits.Lister:
		return listToJSON(v)
	case traits.Mapper:
		return mapToJSON(v)
	default:
		return nil, fmt.Errorf("a value of type %s cannot be written as JSON", v.Type().TypeName())
	}
}

func listToJSON(l traits.Lister) (any, error) {
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		item, err := toJSON(it.Next())
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func mapToJSON(m traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("a key of type %s cannot be written as JSON", key.Type().TypeName())
		}
		v, err := toJSON(m.Get(key))
		if err != nil {
			return nil, err
		}
		out[string(name)] = v
	}
	return out, nil
}
