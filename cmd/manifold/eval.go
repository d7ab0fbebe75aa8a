package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/options"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	manifests, splits []string
	examples, limit   int
	seeds             []uint
	hold              float64
	perturb, rename   bool
	untrained, wrong  bool
	unread            bool
	gates             local.Config
	embeddings        options.Embeddings
}

func evalCommand(c *cli) *cobra.Command {
	var f evalFlags
	var gates options.Thresholds
	cmd := &cobra.Command{
		Use: "eval [FILE]…", Short: "Measure how well sentences are understood, and say what manifests lack",
		Long: `Runs sentences whose meaning is known through the matcher of this machine and
counts what became of them; no server is needed. A file holds either manifests
with cases ({"name","manifests","cases"}), or a manifest, whose own tests are
the cases.

For authors: all that --manifest names, addresses of running domains or files
with a complete manifest, is put side by side, as on one site, measured by its
own tests and looked through for capabilities that collide, have too few
examples or no sentences in "not"; each finding says what to add. A domain in Go
keeps its schemas in code, so give its address, not its hints file.`,
		Example: `  manifold eval --manifest http://127.0.0.1:8091 --manifest other/manifest.json --wrong
  manifold eval clinc150.json --split test --n 10 --perturb`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(f.manifests) == 0 {
				return usagef("nothing to measure; name a FILE or --manifest URL")
			}
			of, err := f.embeddings.Config(func(name string) (string, bool) { v := c.getenv(name); return v, v != "" })
			if err != nil {
				return usageError{err}
			}
			scorer, err := of.Open()
			if err != nil {
				return err
			}
			f.gates = gates.Config()
			f.gates.Scorer = scorer.Scorer
			return errors.Join(c.eval(cmd.Context(), args, f), scorer.Close())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.manifests, "manifest", nil, "URL of a domain service, or a file: a manifest to look through with the others")
	flags.StringSliceVar(&f.splits, "split", nil, "only the cases of these splits")
	flags.IntVar(&f.examples, "n", 0, "how many examples of each capability to keep, chosen by seed; 0 keeps all, -1 none")
	flags.UintSliceVar(&f.seeds, "seeds", []uint{1, 2, 3}, "seeds of the draws; figures are their means")
	flags.BoolVar(&f.perturb, "perturb", false, "write the sentences with typing errors, without some small words, in other cases")
	flags.BoolVar(&f.rename, "rename", false, "replace the names of capabilities by numbers")
	flags.Float64Var(&f.hold, "hold", 0, "the share of capabilities to leave out, chosen by seed: what asks for them is then meant for nobody")
	flags.BoolVar(&f.untrained, "untrained", false, "measure the index as it is at once after a registration")
	flags.BoolVar(&f.wrong, "wrong", false, "list the sentences that were not understood")
	flags.BoolVar(&f.unread, "unread", false, "list the words that no reading uses, the most frequent first: what is missing in examples, values and keywords")
	flags.IntVar(&f.limit, "limit", 0, "the most cases of a draw; 0 takes all")
	f.embeddings.Flags(cmd, "off")
	gates.Flags(cmd, "")
	cmd.AddCommand(evalConversationsCommand(c))
	return cmd
}

func (c *cli) eval(ctx context.Context, files []string, f evalFlags) error {
	var reports []eval.Report
	for _, path := range files {
		set, err := options.ReadSet(ctx, path)
		if err != nil {
			return err
		}
		report, err := c.measure(ctx, set, f)
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	var advice []eval.Advice
	if len(f.manifests) > 0 {
		report, found, err := c.evalManifests(ctx, f)
		if err != nil {
			return err
		}
		reports, advice = append(reports, report), found
	}
	return c.show(evaluation{reports, advice}, func() {
		for _, r := range reports {
			c.out.printf("%s", r.Text())
			if f.wrong {
				c.out.printf("%s", r.WrongText())
			}
			if f.unread {
				c.out.printf("%s", r.UnreadText())
			}
		}
		for _, a := range advice {
			c.out.printf("%s: %s\n  %s\n", a.Capability, oneLine(a.Problem), a.Fix)
		}
	})
}

// evaluation is the JSON output.
type evaluation struct {
	Reports []eval.Report `json:"reports"`
	Advice  []eval.Advice `json:"advice,omitempty"`
}

// evalManifests measures manifests together by their own tests, and returns advice on them.
func (c *cli) evalManifests(ctx context.Context, f evalFlags) (eval.Report, []eval.Advice, error) {
	var sets []eval.Set
	for _, from := range f.manifests {
		set, err := options.ReadSet(ctx, from)
		if err != nil {
			return eval.Report{}, nil, err
		}
		sets = append(sets, set)
	}
	all := eval.Merge(sets...)
	if name, twice := all.Twice(); twice {
		return eval.Report{}, nil, contracts.Errorf(contracts.CodeInvalid, "two of the manifests are of the domain %s; a site has each domain once, so leave one out", name)
	}
	report, err := c.measure(ctx, all, f)
	if err != nil {
		return eval.Report{}, nil, err
	}
	advice, err := eval.Advise(ctx, all)
	return report, advice, err
}

func (c *cli) measure(ctx context.Context, set eval.Set, f evalFlags) (eval.Report, error) {
	opt := eval.Options{Gates: f.gates, Untrained: f.untrained, Limit: f.limit, Now: time.Now()}
	if f.hold < 0 || f.hold >= 1 {
		return eval.Report{}, usagef("--hold is a share of the capabilities, from 0 to below 1")
	}
	if f.examples == 0 && !f.perturb && f.hold == 0 {
		f.seeds = f.seeds[:min(1, len(f.seeds))] // nothing is random
	}
	for _, seed := range f.seeds {
		opt.Draws = append(opt.Draws, eval.Draw{Examples: f.examples, Seed: uint64(seed), Perturb: f.perturb, Rename: f.rename, Hold: f.hold})
	}
	if terminal(c.errs.w) {
		opt.Progress = func(text string) { c.errs.printf("%s: %s\n", set.Name, text) }
	}
	return eval.Run(ctx, set.Select(f.splits...), opt)
}
