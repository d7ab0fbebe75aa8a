package answer

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
)

// worded shows what a model has worded of what was found, above all else. Each
// sentence was held to what was found before it was recorded.
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
