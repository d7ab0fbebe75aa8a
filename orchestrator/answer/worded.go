package answer

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// worded displays the text that a model wrote about the results, above everything else. Each
// sentence was checked against the results before it was stored.
func (c *composer) worded() {
	for i := range c.view.Nodes {
		n := &c.view.Nodes[i]
		if n.Kind != contracts.KindAnswer || n.State != contracts.NodeCompleted {
			continue
		}
		sentences := metrics.WordedIn(n.Facts).Sentences
		if len(sentences) == 0 {
			continue
		}
		texts := make([]string, len(sentences))
		for i, s := range sentences {
			texts[i] = s.Text
		}
		c.blocks = append(c.blocks, contracts.Block{Kind: contracts.BlockText, Text: strings.Join(texts, " "), Sentences: sentences})
	}
}
