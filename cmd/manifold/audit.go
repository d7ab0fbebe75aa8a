package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/witness"
)

func auditCommand(c *cli) *cobra.Command {
	return group("audit", "Check and prove what is recorded", auditVerify(c), auditProve(c), auditCheck(c), auditRoot(c), auditRotate(c))
}

func auditVerify(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "verify [RUN]", Short: "Compare a run with its ledger; or everything with ledgers, seals and signed roots", Args: counted(cobra.MaximumNArgs(1)),
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			report, err := server.AuditVerify(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			err = c.show(report, func() {
				c.out.printf("%d runs, %d entries, %d seals, %d leaves in the log\n", report.Runs, report.Entries, report.Sealed, report.Leaves)
				if len(args) == 0 && report.Sealed == 0 {
					c.out.printf("Rows are not sealed in this store: only ledgers and contents were compared.\n")
				}
				for _, f := range report.Faults {
					c.out.printf("  ! %s: %s\n", f.RunID, oneLine(f.Message))
				}
				if report.MoreFaults > 0 {
					c.out.printf("  ! and %d more\n", report.MoreFaults)
				}
			})
			if err == nil && !report.OK {
				return ended(exitFailed)
			}
			return err
		}),
	}
}

func auditProve(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "prove RUN/SEQ", Short: "Prove that an entry of a ledger is under the last signed root, as JSON", Args: exactly(1),
		Long: `Proves that an entry of a ledger is under the last signed root: the entries
from it to the one that the log names, and the way to the root. RUN is a run,
or "acts" or "locks". "manifold audit check" checks the proof anywhere, with
nothing but the public key.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, args []string) error {
			run, number, _ := strings.Cut(args[0], "/")
			seq, err := strconv.ParseInt(number, 10, 64)
			if err != nil || run == "" {
				return usagef("name the entry as RUN/SEQ, such as acts/3")
			}
			proof, err := server.AuditProof(ctx, run, seq)
			if err != nil {
				return err
			}
			body, err := json.MarshalIndent(proof, "", "  ")
			c.out.printf("%s\n", body)
			return err
		}),
	}
}

func auditCheck(c *cli) *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use: "check PROOF.json", Short: "Check a proof with nothing but a public key; no server is asked", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			body, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			var proof contracts.AuditProof
			if err := contracts.Decode(body, &proof); err != nil {
				return err
			}
			at, err := witness.CheckProof(proof, keys...)
			if err != nil {
				return err
			}
			e := proof.Entries[0]
			c.out.printf("Entry %d of %s (%s by %s, %s) was in the log of %d leaves that was signed at %s.\n",
				e.Seq, e.RunID, e.Kind, oneLine(e.Actor), when(e.At), proof.Root.Size, when(at))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "a public key of roots, a line of audit.keys.pub")
	return cmd
}

func auditRoot(c *cli) *cobra.Command {
	var since string
	var keys []string
	cmd := &cobra.Command{
		Use: "root", Short: "Show the last signed root; or check that it goes on from an older one", Args: exactly(0),
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			if since == "" {
				root, err := server.AuditRoot(ctx)
				if err == nil {
					c.out.printf("%s", root.Note)
				}
				return err
			}
			older, err := os.ReadFile(since) //nolint:gosec // the file that the user names
			if err != nil {
				return err
			}
			size, err := sizeOf(string(older))
			if err != nil {
				return err
			}
			proof, err := server.AuditConsistency(ctx, size)
			if err != nil {
				return err
			}
			at, err := witness.CheckConsistency(proof, string(older), keys...)
			if err == nil {
				c.out.printf("The log of %d leaves of %s has grown from the one of %d.\n", proof.Root.Size, when(at), size)
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&since, "since", "", "file of an older root, to be compared with")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "a public key of roots, a line of audit.keys.pub")
	return cmd
}

// sizeOf parses the size from a root; the signature is verified later.
func sizeOf(root string) (int64, error) {
	lines := strings.Split(root, "\n")
	if len(lines) < 3 {
		return 0, usagef("the file of --since holds no root")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return 0, usagef("the file of --since holds no root")
	}
	return size, nil
}

func auditRotate(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "rotate FILE", Short: "Put new keys before those in the server's file of audit keys; the next start uses them", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err != nil {
				return err
			}
			keys, err := witness.Rotate(args[0])
			if err != nil {
				return err
			}
			public, err := keys.Public()
			if err == nil {
				c.out.printf("The next start signs with the new key and the one before, and seals anew:\n%s\n", public[0])
			}
			return err
		},
	}
}
