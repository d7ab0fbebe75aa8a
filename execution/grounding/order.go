package grounding

// shape counts the kinds of tokens in a clause.
type shape struct{ clause, names, numbers, others int }

func (s shape) onlyNames() bool  { return s.names > 0 && s.numbers == 0 && s.others == 0 }
func (s shape) onlyNumber() bool { return s.numbers == 1 && s.names == 0 && s.others == 0 }
func (s shape) onlyWords() bool  { return s.others > 0 && s.names == 0 && s.numbers == 0 }

// order matches a list of names with as many numbers after it, each in its own clause: "Ana, Bruno,
// days left: 16, 20.5".
func (c *check) order() Kind {
	shapes := shapesOf(c)
	for from := 0; from < len(shapes); from++ {
		end := from
		for end < len(shapes) && shapes[end].onlyNames() {
			end++
		}
		count, first := end-from, end
		if first < len(shapes) && shapes[first].onlyWords() {
			first++
		}
		last := first
		for last < len(shapes) && shapes[last].onlyNumber() {
			last++
		}
		if count > 1 && last-first == count {
			for k := range count {
				c.inOrder[shapes[first+k].clause] = shapes[from+k].clause
			}
		}
		from = max(from, end-1)
	}
	return ""
}

// shapesOf returns the clauses that are not empty.
func shapesOf(c *check) []shape {
	var out []shape
	at := shape{}
	for i, t := range c.tokens {
		switch {
		case parting(t):
			if at != (shape{clause: at.clause}) {
				out = append(out, at)
			}
			at = shape{clause: at.clause + 1}
		case t.kind == kindNumber:
			at.numbers++
		case t.kind == kindIdent || c.isName(i, false) && len(c.find(t)) > 0:
			at.names++
		case unitOf(t.fold) != "" && at.numbers > 0:
		default:
			at.others++
		}
	}
	return append(out, at)
}
