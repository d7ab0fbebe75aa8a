package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/cmd/manifold/internal/report"
	"github.com/manifold-run/manifold/contracts"
)

func planCommand(c *cli) *cobra.Command {
	var body contracts.PlanRequest
	var mermaid bool
	cmd := &cobra.Command{
		Use: "plan WORDS…", Short: "Show what would be done, without doing it", Args: counted(cobra.MinimumNArgs(1)),
		Long: `Compiles a sentence to a plan and shows it with its hash. The plan is kept for a
day; "manifold plan run HASH" runs exactly it.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			body.Message = strings.Join(args, " ")
			preview, err := server.Plan(ctx, body)
			if err != nil {
				return err
			}
			return c.preview(preview, mermaid)
		}),
	}
	flags := cmd.Flags()
	flags.StringToStringVar(&body.Instances, "instance", nil, "instance of a domain, as domain=instance")
	flags.StringVar(&body.SessionID, "session", "", "plan within this session")
	flags.BoolVar(&body.DryRun, "dry-run", false, "plan a dry run")
	flags.BoolVar(&body.Unattended, "unattended", false, "plan for a run that nobody will answer")
	flags.StringVar(&body.Phase, "phase", "", "plan with what may be used in this phase alone, such as review")
	flags.BoolVar(&mermaid, "mermaid", false, "write the graph as a Mermaid diagram")
	cmd.AddCommand(planRunCommand(c))
	return cmd
}

// preview prints a plan, or else what is missing, with the exit code for "waiting for a person".
func (c *cli) preview(p contracts.PlanPreview, mermaid bool) error {
	err := c.show(p, func() {
		if mermaid && p.Mermaid != "" {
			c.out.printf("%s\n", p.Mermaid)
			return
		}
		c.out.preview(p)
	})
	if err == nil && p.Plan == nil {
		return ended(exitWaiting)
	}
	return err
}

func (p printer) preview(v contracts.PlanPreview) {
	if v.Message != "" {
		p.printf("%s\n", v.Message)
	}
	for _, choice := range v.Choices {
		p.printf("  - %s.%s%s\n", choice.Domain, choice.Capability, after(": ", oneLine(choice.Description)))
	}
	for _, q := range v.Questions {
		p.question(q)
	}
	if v.Plan == nil {
		if v.Message == "" && len(v.Choices) == 0 && len(v.Questions) == 0 {
			p.printf("Nothing that is registered fits these words.\n")
		}
		return
	}
	rows := make([][]string, len(v.Rows))
	for i, r := range v.Rows {
		rows[i] = []string{r.NodeID, r.Step, r.Tool, strings.Join(r.DependsOn, " "), string(r.Risk), r.Approval}
	}
	p.table("", []string{"NODE", "STEP", "TOOL", "AFTER", "RISK", "APPROVAL"}, rows)
	if v.Cost != nil {
		p.printf("\ndeclared cost: %s\n", cost(*v.Cost))
	}
	report.Forecast(p.w, v.Forecast)
	p.printf("\nstrategy %s, kept until %s\nrun it with: manifold plan run %s\n", v.Plan.Strategy, whenPtr(v.ExpiresAt), v.PlanHash)
}

func cost(c contracts.Cost) string {
	var parts []string
	if c.USD > 0 {
		parts = append(parts, fmt.Sprintf("%.2f USD", c.USD))
	}
	if c.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", c.Tokens))
	}
	return strings.Join(parts, ", ")
}

func planRunCommand(c *cli) *cobra.Command {
	var body contracts.RunPlan
	var noWait bool
	cmd := &cobra.Command{
		Use: "run HASH", Short: "Run exactly a plan that was shown", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			body.PlanHash = args[0]
			from, err := c.lastEvent(ctx, server, body.SessionID)
			if err != nil {
				return err
			}
			response, err := server.RunPlan(ctx, body, client.Opt{})
			if err != nil {
				return err
			}
			if noWait {
				return c.show(response, func() { c.out.printf("%s is %s\n", response.SessionID, response.Status) })
			}
			return c.follow(ctx, server, response, from)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&body.SessionID, "session", "", "run within this session")
	flags.StringVar(&body.Name, "name", "", "name of the session")
	flags.StringVar(&body.WebhookURL, "webhook", "", "URL that is told when a person has to decide")
	flags.BoolVar(&body.DryRun, "dry-run", false, "read, but only pretend to write")
	flags.BoolVar(&noWait, "no-wait", false, "do not wait for the answer")
	return cmd
}
