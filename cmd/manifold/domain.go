package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

func domainCommand(c *cli) *cobra.Command {
	return group("domain", "Check and manage domains",
		domainNewCommand(c), domainCheckCommand(c), domainAddCommand(c), domainListCommand(c), domainShowCommand(c),
		domainDiffCommand(c), domainConfirmCommand(c), domainRefreshCommand(c), domainRemoveCommand(c))
}

func domainAddCommand(c *cli) *cobra.Command {
	var reg contracts.Registration
	var readsOnly bool
	var file string
	cmd := &cobra.Command{
		Use: "add NAME URL", Short: "Register a domain, or change its registration", Args: counted(cobra.RangeArgs(0, 2)),
		Example: `  manifold domain add bookshelf http://127.0.0.1:8093
  manifold domain add --file registration.json`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			switch {
			case file != "" && len(args) == 0:
				body, err := os.ReadFile(file) //nolint:gosec // the file that the caller names
				if err != nil {
					return err
				}
				if err := contracts.Parse(contracts.SchemaRegistration, body, &reg); err != nil {
					return err
				}
			case file == "" && len(args) == 2:
				reg.Domain, reg.URL = args[0], args[1]
			default:
				return usagef("give NAME and URL, or --file")
			}
			if readsOnly {
				reg.Trust = contracts.TrustReadsOnly
			}
			return c.report(server.RegisterDomain(ctx, reg))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&reg.Authorization, "authorization", "", "env:NAME, the server's variable that holds the header to send")
	flags.IntVar(&reg.PollS, "poll", 0, "seconds between two looks at the manifest")
	flags.StringSliceVar(&reg.Roles, "role", nil, "a role whose players in other domains its workflows may call; notifier always is one")
	flags.BoolVar(&readsOnly, "reads-only", false, "let it read only, whatever it declares")
	flags.StringVar(&file, "file", "", "registration as JSON, for floors and the like")
	return cmd
}

// report shows the outcome of a manifest. A rejected manifest is an error that carries the report.
func (c *cli) report(report contracts.DomainReport, err error) error {
	if err != nil {
		return err
	}
	if err := c.show(report, func() { c.out.report(report) }); err != nil {
		return err
	}
	switch report.Outcome {
	case contracts.DomainPending:
		return ended(exitWaiting)
	case contracts.DomainRefused:
		return ended(exitFailed)
	case contracts.DomainActive, contracts.DomainUnchanged, contracts.DomainStarting:
	}
	return nil
}

func (p printer) report(r contracts.DomainReport) {
	p.printf("%s is %s%s\n", r.Domain, r.Outcome, after(": ", oneLine(r.Message)))
	p.findings(r.Findings)
	if r.Outcome == contracts.DomainPending {
		p.printf("\nIf that is all right: manifold domain confirm %s %s\n", r.Domain, r.Digest)
	}
}

func (p printer) findings(findings []contracts.Finding) {
	rows := make([][]string, len(findings))
	for i, f := range findings {
		rows[i] = []string{string(f.Severity), f.Pointer, f.Message}
	}
	p.table("  ", nil, rows)
}

func domainListCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the domains", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			domains, err := server.Domains(ctx)
			if err != nil {
				return err
			}
			return c.show(domains, func() { c.out.domains(domains) })
		}),
	}
}

func domainShowCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show one domain with its capabilities", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			detail, err := server.Domain(ctx, args[0])
			if err != nil {
				return err
			}
			var capabilities []contracts.CapabilityView
			if detail.ActiveDigest != "" {
				if capabilities, err = server.Capabilities(ctx, args[0]); err != nil {
					return err
				}
			}
			return c.show(detail, func() { c.out.domain(detail, capabilities) })
		}),
	}
}

func domainDiffCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "diff NAME", Short: "Compare the active manifest with the newer one", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			diff, err := server.DiffDomain(ctx, args[0])
			if err != nil {
				return err
			}
			return c.show(diff, func() { c.out.diff(diff) })
		}),
	}
}

func domainConfirmCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "confirm NAME [DIGEST]", Short: "Activate a manifest that waits for you", Args: counted(cobra.RangeArgs(1, 2)),
		Long: `Activates exactly the manifest with the digest. Without one, what the pending
manifest changes is shown, and the digest to confirm it.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			if len(args) == 2 {
				return c.report(server.ConfirmDomain(ctx, args[0], args[1]))
			}
			diff, err := server.DiffDomain(ctx, args[0])
			if err != nil {
				return err
			}
			if err := c.show(diff, func() { c.out.diff(diff) }); err != nil {
				return err
			}
			return ended(exitWaiting)
		}),
	}
}

func domainRefreshCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "refresh NAME", Short: "Fetch and judge the manifest now", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			return c.report(server.RefreshDomain(ctx, args[0]))
		}),
	}
}

func domainRemoveCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Forget a domain", Args: exactly(1),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			if err := server.UnregisterDomain(ctx, args[0]); err != nil {
				return err
			}
			return c.show(map[string]string{"domain": args[0]}, func() { c.out.printf("%s is forgotten\n", strings.TrimSpace(args[0])) })
		}),
	}
}
