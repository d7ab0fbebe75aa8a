package contracts

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// schemaFault is a fault with the keyword that caused it.
type schemaFault struct {
	Fault
	keyword string
}

// validate validates decoded JSON against a compiled schema.
func validate(s *jsonschema.Schema, v any) (faults []schemaFault) {
	// As in compileSchema, an untrusted schema or value must not end the process.
	defer func() {
		if r := recover(); r != nil {
			faults = []schemaFault{{Fault: Fault{Message: fmt.Sprintf("cannot be validated: %v", r)}}}
		}
	}()
	growStack(0)
	switch err := s.Validate(v).(type) { //nolint:errorlint // the library returns its own type unwrapped
	case nil:
		return nil
	case *jsonschema.ValidationError:
		return flatten(err)
	default:
		return []schemaFault{{Fault: Fault{Message: "cannot be validated: " + err.Error()}}}
	}
}

// stackOfValidation is the stack that the library needs for a value of two levels. Each level
// takes 6 KiB.
const stackOfValidation = 20 << 10

// growStack grows the stack of a new goroutine in one step. Otherwise it is doubled and copied
// several times during a validation, which took more time than the validation itself.
//
//go:noinline
func growStack(at int) byte {
	var room [stackOfValidation]byte
	return room[at]
}

func plainFaults(faults []schemaFault) []Fault {
	if len(faults) == 0 {
		return nil
	}
	plain := make([]Fault, 0, len(faults))
	for _, f := range faults {
		plain = append(plain, f.Fault)
	}
	return plain
}

// flatten returns the innermost faults, sorted and without duplicates. The library iterates over
// maps, so its own order is random.
func flatten(err *jsonschema.ValidationError) []schemaFault {
	var faults []schemaFault
	gather(err, &faults)
	slices.SortFunc(faults, func(a, b schemaFault) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	faults = slices.CompactFunc(faults, func(a, b schemaFault) bool { return a.Fault == b.Fault })
	return faults[:min(len(faults), maxFaults)]
}

// comparePointers compares JSON pointers token by token, indexes by number.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(i, j)
		}
		return strings.Compare(a, b)
	})
}

func gather(err *jsonschema.ValidationError, faults *[]schemaFault) {
	keyword := err.KeywordLocation[strings.LastIndexByte(err.KeywordLocation, '/')+1:]
	alternatives := (keyword == "anyOf" || keyword == "oneOf") && err.Message == keyword+" failed"
	if len(err.Causes) == 0 || alternatives {
		message := tidyMessage(keyword, err.Message)
		if alternatives && len(err.Causes) > 0 {
			message = alternativesMessage(err)
		}
		*faults = append(*faults, schemaFault{Fault{instancePointer(err), message}, keyword})
		return
	}
	for _, cause := range err.Causes {
		gather(cause, faults)
	}
}

// instancePointer returns the JSON pointer of the instance without the library's
// percent-encoding.
func instancePointer(err *jsonschema.ValidationError) string {
	if decoded, bad := url.PathUnescape(err.InstanceLocation); bad == nil {
		return decoded
	}
	return err.InstanceLocation
}

// alternativesMessage returns in one line why no alternative matches.
func alternativesMessage(err *jsonschema.ValidationError) string {
	base := instancePointer(err)
	var reasons []string
	for _, cause := range err.Causes {
		var inner []schemaFault
		gather(cause, &inner)
		for _, f := range inner {
			reason := f.Message
			if at := strings.TrimPrefix(f.Pointer, base); at != "" {
				reason = at + " " + reason
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	slices.Sort(reasons)
	if len(reasons) > 5 {
		reasons = append(reasons[:5], "…")
	}
	return "fits none of the alternatives: " + strings.Join(reasons, "; or ")
}

// tidyMessage removes values and random order from the library's message.
func tidyMessage(keyword, message string) string {
	switch keyword {
	case "format":
		if i := strings.LastIndex(message, " is not valid "); i >= 0 {
			return "is not a valid " + strings.Trim(message[i+len(" is not valid "):], "'")
		}
	case "additionalProperties":
		names, ok := strings.CutPrefix(message, "additionalProperties ")
		if names, allowed := strings.CutSuffix(names, " not allowed"); ok && allowed {
			list := strings.Split(names, ", ")
			slices.Sort(list)
			return "unknown: " + strings.Join(list, ", ")
		}
	case "unevaluatedProperties", "additionalItems":
		return "is not allowed here"
	}
	if message == "not allowed" {
		return "is not allowed here"
	}
	if rest, ok := strings.CutPrefix(message, "valid against schemas at indexes "); ok {
		return "fits more than one of the alternatives: " + rest
	}
	return message
}
