package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/app"
)

// connection holds the flags for the server and the credentials. The environment, and the settings file
// of a local server, supply the rest.
type connection struct {
	getenv              func(string) string
	server, key, config string
}

// client connects with the flags, the environment or the file, in this order.
func (c *connection) client() (*client.Client, error) {
	url, key := c.server, c.key
	if url == "" {
		url = c.getenv("MANIFOLD_URL")
	}
	if key == "" {
		key = c.getenv("MANIFOLD_KEY")
	}
	if url == "" || key == "" {
		found, err := c.settings()
		if err != nil {
			return nil, err
		}
		if url == "" {
			url = found.URL
		}
		// A key is sent only to its own server.
		if key == "" && strings.TrimRight(url, "/") == found.URL {
			key = found.Key
		}
	}
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	return client.New(client.Config{URL: url, Key: key, UserAgent: "manifold/" + version})
}

// settings reads the file that a server wrote. A missing file is an error only if it was requested.
func (c *connection) settings() (app.ClientSettings, error) {
	var s app.ClientSettings
	path, asked := c.config, c.config != ""
	if !asked {
		path = c.getenv("MANIFOLD_CONFIG")
		asked = path != ""
	}
	if !asked {
		path = filepath.Join(dataDir(c.getenv), "client.json")
	}
	body, err := os.ReadFile(path) //nolint:gosec // the file that the caller names
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("settings in %s: %w", path, err)
	}
	return s, nil
}

// dataDir returns the default data folder of a server.
func dataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "manifold")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "manifold")
	}
	return "manifold-data"
}
