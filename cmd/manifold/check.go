package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/authoring"
	"github.com/manifold-run/manifold/domainkit/conformance"
)

func domainCheckCommand(c *cli) *cobra.Command {
	var opt conformance.Options
	var authorization string
	cmd := &cobra.Command{
		Use: "check URL", Short: "Check a running domain service, in any language, against the contract", Args: exactly(1),
		Long: `Checks a service by its URL, from this machine; no server is needed. The
sentences of the manifest's tests are tried on the matcher of this machine, the
steps of its workflows are checked, and reads are executed with the examples of
the manifest, as a server would send them. Writes are executed only with
--allow-writes, and only by examples that the author marked safe.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opt.URL = args[0]
			if name, ok := strings.CutPrefix(authorization, "env:"); ok {
				if opt.Authorization = c.getenv(name); opt.Authorization == "" {
					return usagef("the variable %s is not set", name)
				}
			} else if authorization != "" {
				return usagef("--authorization must be env:NAME, so that no secret stands on the command line")
			}
			return c.check(cmd.Context(), opt)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opt.AllowWrites, "allow-writes", false, "execute writes by their safe examples: the service is changed")
	flags.StringVar(&authorization, "authorization", "", "env:NAME, the variable that holds the header to send")
	flags.DurationVar(&opt.Timeout, "timeout", 30*time.Second, "bound of one exchange")
	return cmd
}

func (c *cli) check(ctx context.Context, opt conformance.Options) error {
	opt.Further = authoring.Checks()
	if !c.asJSON {
		opt.Progress = c.out.check
	}
	report := conformance.Run(ctx, opt)
	err := c.show(report, func() {
		c.out.printf("\n%d errors, %d warnings\n", report.Count(conformance.SeverityError), report.Count(conformance.SeverityWarning))
	})
	if err == nil && !report.OK() {
		return ended(exitFailed)
	}
	return err
}

func (p printer) check(check conformance.Check) {
	p.printf("%-8s %s%s\n", check.Status, check.Name, after(": ", oneLine(check.Detail)))
	for _, f := range check.Findings {
		p.printf("  %s %s%s: %s\n", f.Severity, f.Rule, after(" at ", f.Pointer), oneLine(f.Message))
		if f.Fix != "" {
			p.printf("    fix: %s\n", oneLine(f.Fix))
		}
	}
}
