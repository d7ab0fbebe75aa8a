package metrics

import "encoding/json"

// Sentence is one that a model has worded and that was checked: every value in it
// stands in what the nodes found.
type Sentence struct {
	Text string `json:"text"`
	// Nodes are those that it rests on.
	Nodes []string `json:"nodes"`
}

// Worded are the facts of a node of kind answer.
type Worded struct {
	Sentences []Sentence `json:"sentences"`
	// LeftOut says of each sentence that did not pass why it is not shown. What it
	// said is not kept.
	LeftOut []string `json:"left_out,omitempty"`
}

// Facts are the words as facts of a node: plain JSON values.
func (w Worded) Facts() (map[string]any, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
}

// WordedIn reads the facts of a node of kind answer; facts of another shape have no
// sentences.
func WordedIn(facts map[string]any) Worded {
	var out Worded
	raw, err := json.Marshal(facts)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return Worded{}
	}
	return out
}
