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

// AdminKeyFile returns the file to which the first start writes the first admin key.
func (a *App) AdminKeyFile() string { return a.path("admin.key") }

// ClientFile returns the file with the settings of command line clients on this machine.
func (a *App) ClientFile() string { return a.path("client.json") }

// ClientSettings is the content of the client file.
type ClientSettings struct {
	URL string `json:"url"`
	Key string `json:"key,omitempty"`
}

// firstKey creates the first API key of a store. Its text is written only to a file.
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

// writeClientFile writes the client file. The caller holds mu.
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

// writePrivate replaces a file that only its owner may read. The content is never readable by
// others.
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
