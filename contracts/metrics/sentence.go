package metrics

import "encoding/json"

// Sentence is a verified sentence of a model: every value in it occurs in the results of the
// nodes.
type Sentence struct {
	Text string `json:"text"`
	// Nodes are the nodes that support the sentence.
	Nodes []string `json:"nodes"`
}

// Worded are the facts of a node of kind answer.
type Worded struct {
	Sentences []Sentence `json:"sentences"`
	// LeftOut is the reason for each rejected sentence. The rejected text is not stored.
	LeftOut []string `json:"left_out,omitempty"`
}

// Facts returns w as the facts of a node, in plain JSON values.
func (w Worded) Facts() (map[string]any, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
}

// WordedIn returns the Worded stored in the facts of an answer node. Facts of another shape
// contain no sentences.
func WordedIn(facts map[string]any) Worded {
	var out Worded
	raw, err := json.Marshal(facts)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return Worded{}
	}
	return out
}
