package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
)

// driverName is the name under which the driver is registered.
const driverName = "sqlite"

// Config configures a Store. Only Path is required.
type Config struct {
	// Path is the database file. It is created with its directory if it is missing. SQLite and
	// the lock use files with the suffixes "-wal", "-shm" and "-lock".
	Path string
	// Readers is the maximum number of concurrent reads; the default is 2 per processor, 4 to 16.
	Readers int
	// SealKeys are the keys that seal rows, the current one first. Older keys are needed only
	// once, to change to the current one. Without a key nothing is sealed, and opening a sealed
	// database fails.
	SealKeys [][]byte
	// Init allows a new database in place of an empty file. Otherwise an empty file is rejected,
	// because it may have been a database.
	Init bool
	// Now is the clock for leases, expiries and windows; the default is time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.Readers = cmp.Or(c.Readers, min(max(2*runtime.GOMAXPROCS(0), 4), 16))
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Store is an open SQLite database with its stores. It is safe for concurrent use.
type Store struct {
	*sqlstore.Store

	file *file
}

// The parts of a store.
type (
	// Runs stores runs.
	Runs = sqlstore.RunStore
	// Talk stores sessions and turns.
	Talk = sqlstore.SessionStore
	// Mail stores outgoing deliveries and incoming messages.
	Mail = sqlstore.QueueStore
	// Directory stores API keys and domains.
	Directory = sqlstore.AdminStore
	// Proofs stores the seals and the audit log.
	Proofs = sqlstore.AuditStore
)

// file is the open database that all stores share. All writes go through its writer.
type file struct {
	now    func() time.Time
	lock   *fileLock
	inode  *inodeLock
	db     *sql.DB
	writer *writer
	// closed is closed when no more writes are accepted.
	closed <-chan struct{}
	// readers are the idle connections for reads.
	readers chan *handle
	// sealKey is the current key, nil for none.
	sealKey []byte
}

// Open opens the database and creates or migrates its tables. No other process can open it until
// Close or the end of this process. ctx limits only the opening.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Path == "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "open the database: no path is given")
	}
	path, err := realPath(cfg.Path)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "open the database %s: %w", cfg.Path, err)
	}
	cfg = cfg.withDefaults()
	lock, err := lockFile(ctx, path)
	if err != nil {
		return nil, err
	}
	f := &file{now: cfg.Now, lock: lock, readers: make(chan *handle, cfg.Readers)}
	if len(cfg.SealKeys) > 0 {
		f.sealKey = cfg.SealKeys[0]
	}
	if err := f.connect(ctx, path, cfg); err != nil {
		return nil, errors.Join(translate("open the database "+path, err), f.closeFiles())
	}
	s := sqlstore.New(f, cfg.Now)
	f.closed = s.Closed()
	return &Store{Store: s, file: f}, nil
}

// Close commits accepted writes and closes the files. Later writes fail as unavailable. It may be
// called twice.
func (s *Store) Close() error {
	if !s.CloseWriter() {
		return nil
	}
	return translate("close the database", s.file.closeFiles())
}

// connect opens the writing connection and the readers.
func (s *file) connect(ctx context.Context, path string, cfg Config) error {
	readers := cfg.Readers
	err := makeDatabase(path, cfg.Init)
	if err != nil {
		return err
	}
	if s.inode, err = takeInodeLock(path); err != nil {
		return err
	}
	if s.db, err = sql.Open(driverName, dsn(path)); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(readers + 1)
	first, err := newHandle(ctx, s.db, s.now)
	if err != nil {
		return err
	}
	if err := migrate(ctx, first); err != nil {
		return errors.Join(err, first.close())
	}
	// This process has the file exclusively, so all lease owners have ended.
	if _, err := first.Exec(ctx, `UPDATE run SET lease_until = 0 WHERE owner <> ''`); err != nil {
		return errors.Join(err, first.close())
	}
	seals, err := openSeals(ctx, first, cfg.SealKeys)
	if err != nil {
		return errors.Join(err, first.close())
	}
	for range readers {
		h, err := newHandle(ctx, s.db, s.now)
		if err != nil {
			return errors.Join(err, seals.forget(first), first.close())
		}
		if _, err := h.Exec(ctx, "PRAGMA query_only = 1"); err != nil {
			return errors.Join(err, seals.forget(first), first.close(), h.close())
		}
		s.readers <- h
	}
	s.writer = &writer{handle: first, seals: seals}
	return nil
}

// closeFiles closes everything that is open. Once the store was in use, it waits for all readers,
// so that running reads finish.
func (s *file) closeFiles() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.closeReaders(cap(s.readers)), s.writer.seals.forget(s.writer.handle), s.writer.close())
	} else {
		errs = append(errs, s.closeReaders(len(s.readers)))
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(append(errs, s.inode.Release(), s.lock.release())...)
}

func (s *file) closeReaders(n int) error {
	var errs []error
	for range n {
		h := <-s.readers
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// dsn returns the data source name with the settings: a commit is durable when it returns (WAL,
// synchronous FULL), and freed pages can be returned to the disk, unless the file is older than
// that setting.
func dsn(path string) string {
	settings := url.Values{"_pragma": {
		"busy_timeout(10000)", "auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(0)",
		"temp_store(MEMORY)", "cache_size(-16000)", "journal_size_limit(67108864)", "wal_autocheckpoint(4000)",
	}, "_txlock": {"immediate"}, "_error_rc": {"1"}}
	return fileURL(path, settings)
}

func fileURL(path string, settings url.Values) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a volume name
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: settings.Encode()}
	return u.String()
}

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 40

// realPath resolves symbolic links, so that the lock file is always beside the file itself.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(folder, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // no link, or not there yet
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%s leads over more than %d links", path, maxLinks)
}

// makeDatabase creates the file of a new database. It rejects an existing empty file unless anew
// is set, because it may be a truncated database.
func makeDatabase(path string, anew bool) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 && !anew {
		return contracts.Errorf(contracts.CodeConflict,
			"the file %s is there and empty: if a database was in it, restore it; to make a new one, start with --init or remove the file", path)
	}
	return makeFile(path)
}

// makeFile creates a missing file, readable only by its owner because it contains secrets. It
// does not open an existing file: closing it would release locks that this process holds on it.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator says where the data is
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
