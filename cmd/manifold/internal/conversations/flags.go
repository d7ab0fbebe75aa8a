package conversations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/intent/eval/conversation"
)

// Flags are the flags of the command.
type Flags struct {
	Options

	// All lists all conversations, Quiet none.
	All, Quiet bool

	reader, out, transcript string
	done, asked, recall     float64
	drops, unapproved       int
	gates                   int
}

// Command returns the command with its flags and help; the caller sets RunE.
func (f *Flags) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "conversations FILE", Short: "Play conversations against a server and grade what became of them",
		Long: `Says the conversations of FILE, each by a person of its own, and grades the
last message by plans, parameters and gates: right, asked, wrong, or silent-drop
(a write that contradicts what was said, or leaves out a part without a word).

Without --server it starts the program demo, which stands beside this one, in a
folder of its own, and ends it. With --server and --key it uses that server, with
the keys of --keys (a JSON object by name, approver among them) and, if
--admin-key names its file, a person made for each conversation.

--model puts a model behind the server: perfect answers what each item expects,
in the form of --dialect; trap proposes a write for everything; script answers by
the rules that the items have; with --recorded, it plays back what the named model said. A server of your own has to be told
where: give --model-addr and start it with REASONING_BASE_URL=http://ADDR/v1.`,
		Example: `  manifold eval conversations demo.json
  manifold eval conversations demo.json --model perfect --dialect plan --floor-done 97 --floor-asked 2 --max-drops 0`,
	}
	f.add(cmd)
	return cmd
}

func (f *Flags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.reader, "reader", "", "what reads messages: local, or model (needs --model or --recorded); empty means model if one is named")
	flags.StringVar(&f.Model, "model", "", "perfect, trap, script, or with --recorded the name of a recorded model")
	flags.StringVar(&f.Dialect, "dialect", "list", "how the perfect model says several things: "+strings.Join(Dialects(), ", "))
	flags.StringVar(&f.Recorded, "recorded", "", "file with what models answered, by the ids of conversations")
	flags.StringVar(&f.ModelAddr, "model-addr", "", "address to serve the model on; empty takes a free port")
	flags.StringVar(&f.Seed, "seed", "", "file whose seed is done before the first conversation")
	flags.StringArrayVar(&f.Domains, "domain", nil, "a domain service that joins the demo, as NAME=URL")
	flags.StringVar(&f.Demo, "demo", "", "the program demo, where it is not beside this one")
	flags.StringVar(&f.Embeddings, "embeddings", "", "what tells the demo the meaning of texts: auto, local or off; empty means its default")
	flags.StringVar(&f.Keys, "keys", "", "file with the keys of people by name, with --server")
	flags.StringVar(&f.AdminKey, "admin-key", "", "file with an admin's key, with --server")
	flags.StringVar(&f.Only, "only", "", "only conversations with this text in their id, this tag or this language")
	flags.StringVar(&f.out, "out", "", "file to write the report to, as JSON")
	flags.StringVar(&f.transcript, "transcript", "", "file to write sessions and runs to, as JSON, so that they can be graded again")
	flags.IntVar(&f.Jobs, "jobs", 4, "conversations at once")
	flags.BoolVar(&f.All, "all", false, "list all conversations, not only those that are not right")
	flags.BoolVar(&f.Quiet, "quiet", false, "list no conversation")
	flags.Float64Var(&f.done, "floor-done", -1, "exit 1 if less per cent of what was to be done is done")
	flags.Float64Var(&f.asked, "floor-asked", -1, "exit 1 if more per cent of what was to be done is asked about")
	flags.Float64Var(&f.recall, "floor-recall", -1, "exit 1 if less per cent of the expected capabilities were offered to the perfect model")
	flags.IntVar(&f.gates, "max-gates", -1, "exit 1 if more writes wait for an approval")
	flags.IntVar(&f.drops, "max-drops", -1, "exit 1 if there are more silent drops")
	flags.IntVar(&f.unapproved, "max-effects", -1, "exit 1 if more writes ran that nobody meant or approved")
}

// Check sets the file and the server, and rejects contradictory flags.
func (f *Flags) Check(file, server, key string, getenv func(string) string) error {
	f.File, f.Server, f.Key = file, server, key
	if server != "" && key == "" {
		f.Key = getenv("MANIFOLD_KEY")
	}
	model := f.Model != "" || f.Recorded != ""
	switch {
	case !slices.Contains([]string{"", "local", "model"}, f.reader):
		return fmt.Errorf("--reader must be local or model, not %q", f.reader)
	case f.reader == "local" && model:
		return fmt.Errorf("--reader local asks no model; leave --model and --recorded out")
	case f.reader == "model" && !model && f.Server == "":
		return fmt.Errorf("--reader model needs --model or --recorded")
	case f.Recorded == "" && !slices.Contains([]string{"", ModelPerfect, ModelTrap, ModelScript}, f.Model):
		return fmt.Errorf("--model must be perfect, trap or script, not %q; the name of a recorded model needs --recorded", f.Model)
	case !slices.Contains(Dialects(), f.Dialect):
		return fmt.Errorf("--dialect must be one of %v, not %q", Dialects(), f.Dialect)
	case f.Server != "" && model && f.ModelAddr == "":
		return fmt.Errorf("with --server, --model needs --model-addr: the server has to be told where its model is")
	case f.recall >= 0 && f.Model != ModelPerfect:
		return fmt.Errorf("--floor-recall needs --model perfect: no other says what it expects")
	case f.Server != "" && len(f.Domains) > 0:
		return fmt.Errorf("--domain is for a demo that is started; register the domain at your server yourself")
	case f.Jobs < 1:
		return fmt.Errorf("--jobs must be at least 1")
	}
	return nil
}

func (f *Flags) floors() conversation.Floors {
	var out conversation.Floors
	if f.done >= 0 {
		out.Done = &f.done
	}
	if f.asked >= 0 {
		out.Asked = &f.asked
	}
	if f.drops >= 0 {
		out.Drops = &f.drops
	}
	if f.gates >= 0 {
		out.Gates = &f.gates
	}
	if f.unapproved >= 0 {
		out.Unapproved = &f.unapproved
	}
	return out
}

// Play plays the set, lists conversations as they end, and writes the files that the flags name.
// reached is false if a required minimum is missed.
func (f *Flags) Play(ctx context.Context, out, errs io.Writer, quiet bool) (report conversation.Report, reached bool, err error) {
	f.Done = func(row conversation.Row, n, all int) {
		if (f.All || row.Grade != conversation.Right) && !f.Quiet && !quiet {
			_, _ = io.WriteString(out, row.Text())
		}
		if n%20 == 0 || n == all {
			_, _ = fmt.Fprintf(errs, "%d of %d\n", n, all)
		}
	}
	report, transcript, err := Run(ctx, f.Options)
	if err != nil {
		return report, false, err
	}
	if m, ok := report.Model.(ModelMetrics); ok && m.Wanted > 0 {
		_, _ = fmt.Fprintf(errs, "offered: %.1f %% of %d expected capabilities\n", m.Recall, m.Wanted)
	}
	missed := f.floors().Missed(report.Total)
	if m, ok := report.Model.(ModelMetrics); ok && m.Recall < f.recall {
		missed = append(missed, fmt.Sprintf("recall: %.1f %%, at least %g %% wanted", m.Recall, f.recall))
	}
	for _, m := range missed {
		_, _ = fmt.Fprintf(errs, "floor missed: %s\n", m)
	}
	return report, len(missed) == 0, errors.Join(write(f.out, report), write(f.transcript, transcript))
}

// write writes a value as JSON, if a file is named.
func write(path string, v any) error {
	if path == "" {
		return nil
	}
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o600)
}
