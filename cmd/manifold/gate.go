package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func gatesCommand(c *cli) *cobra.Command {
	var f client.GatesFilter
	var status, kind string
	cmd := &cobra.Command{
		Use: "gates [CODE]", Short: "List what waits for a person, or show one", Args: counted(cobra.MaximumNArgs(1)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			if len(args) == 1 {
				gate, err := server.Gate(ctx, args[0])
				if err != nil {
					return err
				}
				return c.show(gate, func() {
					c.out.gate(gate)
					c.out.hint(gate)
				})
			}
			if f.Status = contracts.InterruptStatus(status); status == "all" {
				f.Status = ""
			}
			f.Type = contracts.InterruptType(kind)
			gates, err := server.Gates(ctx, f)
			if err != nil {
				return err
			}
			return c.show(gates, func() {
				c.out.gates(gates)
				c.out.more(len(gates), f.Limit)
			})
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&status, "status", "open", "open, approved, rejected, answered, expired, superseded or all")
	flags.StringVar(&kind, "type", "", "only this type, such as write_approval")
	flags.StringVar(&f.RunID, "run", "", "only of this run")
	flags.StringVar(&f.SessionID, "session", "", "only of this session")
	flags.IntVar(&f.Limit, "limit", contracts.PageLimit, "how many, 0 for all")
	return cmd
}

type approveOptions struct {
	comment string
	yes     bool
	sha256  string
}

func approveCommand(c *cli) *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use: "approve CODE...", Short: "Approve an action, exactly as it is shown", Args: counted(cobra.MinimumNArgs(1)),
		Long: `Shows the action of a gate and approves exactly it: if anything changes before
the decision arrives, it is refused. Several are all shown first, and each is approved
by its own hash. A person at a terminal is asked first; anybody else must name the
action by its hash.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			return c.approve(ctx, server, args, o)
		}),
	}
	cmd.Flags().StringVar(&o.comment, "comment", "", "why; it is kept with the decision")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask once more, at a terminal")
	cmd.Flags().StringVar(&o.sha256, "sha256", "", "the hash of the action that was read, at least 12 characters of it; needed where no person is at a terminal")
	return cmd
}

func (c *cli) approve(ctx context.Context, server *client.Client, codes []string, o approveOptions) error {
	if len(codes) > 1 && o.sha256 != "" {
		return usagef("a hash names one action; approve %s each by its own", strings.Join(codes, ", "))
	}
	gates := make([]contracts.Interrupt, len(codes))
	for n, code := range codes {
		gate, err := server.Gate(ctx, code)
		if err != nil {
			return err
		}
		if err := c.shownToApprove(gate, o); err != nil {
			return err
		}
		gates[n] = gate
	}
	question := "\nApprove this?"
	if len(gates) > 1 {
		question = fmt.Sprintf("\nApprove these %d?", len(gates))
	}
	if o.sha256 == "" && !o.yes && !c.confirmed(question) {
		return ended(exitWaiting)
	}
	for _, gate := range gates {
		decided, err := server.Approve(ctx, gate, o.comment, client.Opt{})
		if err != nil {
			return err
		}
		if err := c.decided(decided); err != nil {
			return err
		}
	}
	return nil
}

// shownToApprove shows a gate, and returns an error if it cannot be approved like this.
func (c *cli) shownToApprove(gate contracts.Interrupt, o approveOptions) error {
	if !gate.Type.IsGate() && !slices.Contains(gate.Answers, contracts.SayApprove) {
		return usagef("%s is a question of type %s; use manifold answer or settle", gate.Code, gate.Type)
	}
	if !c.asJSON {
		c.out.gate(gate)
	}
	switch {
	case o.sha256 != "" && (len(o.sha256) < 12 || !strings.HasPrefix(gate.ActionSHA256, strings.ToLower(o.sha256))):
		return contracts.Errorf(contracts.CodeStaleApproval, "%s is not about the action of that hash; look at it again", gate.Code)
	case o.sha256 == "" && (c.asJSON || !terminal(c.stdin)): // JSON output shows nothing before the approval
		return usagef("nobody at a terminal has read this: name the action by its hash, with --sha256; it is action_sha256 of \"manifold gates %s --json\"", gate.Code)
	}
	return nil
}

// confirmed asks for confirmation; anything but yes is a no.
func (c *cli) confirmed(question string) bool {
	c.out.printf("%s [y/N] ", question)
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	return err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}

func (c *cli) decided(gate contracts.Interrupt) error {
	return c.show(gate, func() {
		c.out.printf("\n%s is %s", gate.Code, gate.Status)
		if gate.Status == contracts.InterruptOpen && gate.Quorum > 1 {
			c.out.printf("; it needs %d approvals", gate.Quorum)
		}
		c.out.printf("\n")
	})
}

func rejectCommand(c *cli) *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use: "reject CODE", Short: "Reject an action", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			gate, err := server.Gate(ctx, args[0])
			if err != nil {
				return err
			}
			decided, err := server.Reject(ctx, gate, comment, client.Opt{})
			if err != nil {
				return err
			}
			return c.decided(decided)
		}),
	}
	cmd.Flags().StringVar(&comment, "comment", "", "why; it is kept with the decision")
	return cmd
}

func answerCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "answer CODE VALUE", Short: "Answer a question", Args: counted(cobra.MinimumNArgs(2)),
		Long: `Answers a question by its code: with an option, by id or label, or with a value
of the kind that the question asks for.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			gate, err := server.Gate(ctx, args[0])
			if err != nil {
				return err
			}
			decided, err := server.Answer(ctx, gate, typed(gate, strings.Join(args[1:], " ")), client.Opt{})
			if err != nil {
				return err
			}
			return c.answered(decided)
		}),
	}
}

// answered shows an answered question, and where to find the result.
func (c *cli) answered(gate contracts.Interrupt) error {
	if err := c.decided(gate); err != nil || c.asJSON || gate.SessionID == "" {
		return err
	}
	c.out.printf("See what came of it with: manifold sessions show %s\n", gate.SessionID)
	return nil
}

// typed parses an answer as the type that the question expects. Otherwise it is sent as text, and the
// server says what is valid.
func typed(gate contracts.Interrupt, words string) any {
	kind, _ := gate.ResponseSchema["type"].(string) // other schemas define no type
	if kind == "" || kind == "string" {
		return words
	}
	var value any
	if json.Unmarshal([]byte(words), &value) != nil {
		return words
	}
	return value
}

func settleCommand(c *cli) *cobra.Command {
	answers := map[string]string{
		"applied": contracts.AnswerApplied, "not-applied": contracts.AnswerNotApplied, "look-again": contracts.AnswerRepeatLookup,
	}
	return &cobra.Command{
		Use: "settle CODE applied|not-applied|look-again", Short: "Say what became of a write whose outcome is unknown", Args: exactly(2),
		ValidArgs: []string{"applied", "not-applied", "look-again"},
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			answer, ok := answers[args[1]]
			if !ok {
				return usagef("say applied, not-applied or look-again")
			}
			gate, err := server.Gate(ctx, args[0])
			if err != nil {
				return err
			}
			if gate.Type != contracts.InterruptOutcomeUnknown {
				return usagef("%s is of type %s, not of an unknown outcome", gate.Code, gate.Type)
			}
			decided, err := server.Answer(ctx, gate, answer, client.Opt{})
			if err != nil {
				return err
			}
			return c.decided(decided)
		}),
	}
}
