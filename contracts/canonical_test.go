package contracts_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func TestCanonicalBytes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ in, want string }{
		"the example of RFC 8785": {
			`{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		"members by UTF-16 code units": {
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
		"the members of the RFC's nested example": {
			`{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
			`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
		},
		"the order of a list stays":      {`[56,{"d":true,"10":null,"1":[]}]`, `[56,{"1":[],"10":null,"d":true}]`},
		"text is not normalised":         {`{"Unnormalized Unicode":"A\u030a"}`, `{"Unnormalized Unicode":"A` + "\u030a" + `"}`},
		"control characters":             {`"\b\f\n\r\t\u0000\u001f\u007f<>&\u2028"`, `"\b\f\n\r\t\u0000\u001f` + "\u007f<>&\u2028" + `"`},
		"digits beyond 2^53 stay":        {`[9007199254740993,-12345678901234567890]`, `[9007199254740993,-12345678901234567890]`},
		"a zero has no sign":             {`[-0,-0.0,0e5]`, `[0,0,0]`},
		"a whole number has no fraction": {`[1.0,1e2,100]`, `[1,100,100]`},
		"of two members the last counts": {`{"b":1,"a":[],"b":{"d":1,"c":2}}`, `{"a":[],"b":{"c":2,"d":1}}`},
		"names are compared unescaped":   {`{"b":1,"\u0061":2}`, `{"a":2,"b":1}`},
		"a lone surrogate is replaced":   {`"\ud800x"`, `"` + "\ufffd" + `x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := contracts.CanonicalBytes([]byte(tc.in))
			if err != nil || string(got) != tc.want {
				t.Errorf("got  %s\nwant %s\n%v", got, tc.want, err)
			}
		})
	}
}

// The numbers of RFC 8785, appendix B, by their bits.
func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0",
		0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		got, err := contracts.Canonical(math.Float64frombits(bits))
		if err != nil || string(got) != want {
			t.Errorf("%x: got %s, %v; want %s", bits, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"two values": `1 2`, "half a value": `{"a":`, "nothing": ``, "a number out of range": `1e999`,
		"an integer out of range": strings.Repeat("9", 400),
	} {
		if got, err := contracts.CanonicalBytes([]byte(in)); err == nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if _, err := contracts.Canonical(math.NaN()); err == nil {
		t.Error("NaN has no JSON")
	}
}

func TestHashSeesContentOnly(t *testing.T) {
	t.Parallel()
	hash := func(v any) string {
		h, err := contracts.Hash(v)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	a := hash(json.RawMessage(`{"b": 1.0, "a": [1,2]}`))
	if b := hash(map[string]any{"a": []int{1, 2}, "b": 1}); a != b {
		t.Error("the same content has the same hash")
	}
	if b := hash(json.RawMessage(`{"b":1,"a":[2,1]}`)); a == b {
		t.Error("another order of a list is other content")
	}
	if hash(json.RawMessage(`9007199254740993`)) == hash(json.RawMessage(`9007199254740992`)) {
		t.Error("large ids collide")
	}
	if want := "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; hash(map[string]any{}) != want {
		t.Errorf("the hash of {} is SHA-256 over its two bytes, got %s", hash(map[string]any{}))
	}
}

// FuzzCanonical checks that canonicalization is idempotent, and that it gives the same result for
// the text and for the decoded value.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e3,"\ud83d\ude00"],"":null}`, `9007199254740993`, `1e21`, `1e-7`, `"\u2028\u0000"`, `{"b":1,"a":{"d":[],"c":"\u003c"},"b":-0, "aa" : 1.50}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := contracts.CanonicalBytes(data)
		if err != nil {
			return
		}
		twice, err := contracts.CanonicalBytes(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s became %s: %v", once, twice, err)
		}
		var tree any
		if err := contracts.Decode(data, &tree); err != nil {
			t.Fatalf("%s has a canonical form and cannot be decoded: %v", data, err)
		}
		decoded, err := contracts.Canonical(tree)
		if err != nil || string(decoded) != string(once) {
			t.Fatalf("%s became %s, and decoded %s: %v", data, once, decoded, err)
		}
	})
}

func TestDecodeKeepsLongIntegers(t *testing.T) {
	t.Parallel()
	for indent := range 40 {
		text := strings.Repeat(" ", indent) + `{"short":900719925474099,"exact":[9007199254740993],"text":"` + strings.Repeat("x", indent) + `"}`
		var got map[string]any
		if err := contracts.Decode([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if got["short"] != 900719925474099.0 || got["exact"].([]any)[0] != json.Number("9007199254740993") {
			t.Errorf("%s: got %v", text, got)
		}
	}
}
