package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// AdminKeyFile is where the first start of a data folder writes the key of the
// first admin.
func (a *App) AdminKeyFile() string { return a.path("admin.key") }

// ClientFile is what the server leaves for command lines on this machine.
func (a *App) ClientFile() string { return a.path("client.json") }

// ClientSettings is the content of the client file.
type ClientSettings struct {
	URL string `json:"url"`
	Key string `json:"key,omitempty"`
}

// firstKey makes the first key of a store; its text is kept in a file and
// nowhere else.
func (a *App) firstKey(ctx context.Context) error {
	created, err := a.keys.First(ctx, func(text string) error {
		return writePrivate(a.AdminKeyFile(), []byte(text+"\n"))
	})
	if err != nil || !created {
		return err
	}
	a.cfg.Logger.InfoContext(ctx, "first admin key was written", slog.String("file", a.AdminKeyFile()))
	return nil
}

// writeClientFile tells command lines on this machine where the server is. The
// caller holds mu.
func (a *App) writeClientFile() error {
	settings := ClientSettings{URL: "http://" + reachable(a.listener.Addr())}
	key, err := os.ReadFile(a.AdminKeyFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the admin key: %w", err)
	}
	settings.Key = strings.TrimSpace(string(key))
	body, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(a.ClientFile(), append(body, '\n'))
}

// writePrivate replaces a file so that only its owner can read it, at no
// moment anybody else.
func writePrivate(path string, body []byte) error {
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(tmp, body, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
