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

// driverName is what the driver registers itself as.
const driverName = "sqlite"

// Config specifies where the data is; the zero value of all but Path is sound.
type Config struct {
	// Path is the database file. It is made with its folder if it is missing;
	// "-wal", "-shm" and "-lock" files lie beside it.
	Path string
	// Readers is how many reads go on at once [2 per processor, 4 to 16].
	Readers int
	// SealKeys are the keys that rows are sealed with, the present one first; the
	// older ones are needed once, to go over to it. Without a key nothing is
	// sealed, and a sealed database is not opened.
	SealKeys [][]byte
	// Init makes a new database in the place of an empty file; without it one that
	// is there and empty is refused, because a database may have been there.
	Init bool
	// Now is the store's clock [time.Now]: leases, expiries and windows are
	// compared with it.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.Readers = cmp.Or(c.Readers, min(max(2*runtime.GOMAXPROCS(0), 4), 16))
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Store is one open database, in parts by what is kept. It is safe for
// concurrent use.
type Store struct {
	*sqlstore.Store

	file *file
}

// The parts of a store.
type (
	// Runs are the rows of runs.
	Runs = sqlstore.RunStore
	// Talk are the rows of sessions and turns.
	Talk = sqlstore.SessionStore
	// Mail are what is to be sent.
	Mail = sqlstore.QueueStore
	// Directory are keys and domains.
	Directory = sqlstore.AdminStore
	// Proofs are seals and roots.
	Proofs = sqlstore.AuditStore
)

// file is the open database that all parts share. Whoever writes does it
// through its writer.
type file struct {
	now    func() time.Time
	lock   *fileLock
	inode  *inodeLock
	db     *sql.DB
	writer *writer
	// closed is closed when no write is accepted any more.
	closed <-chan struct{}
	// readers holds the idle connections for reads.
	readers chan *handle
	// sealKey is the present one, nil for none.
	sealKey []byte
}

// Open opens the database, makes or updates its tables, and keeps every other
// process out until Close, or until this process ends in whatever way. The
// context bounds the opening only.
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

// Close commits what was accepted, and closes the files. Writes that come
// later are refused as unavailable. Closing twice is harmless.
func (s *Store) Close() error {
	if !s.CloseWriter() {
		return nil
	}
	return translate("close the database", s.file.closeFiles())
}

// connect opens the connection that writes and those that read.
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
	// The file is ours alone: whoever held a lease on a run is gone.
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

// closeFiles closes all that is open; once the store was in use it takes every
// reader back first, so that reads under way finish.
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

// dsn names the file with its settings: a commit is on the disk when it
// returns (WAL, synchronous FULL), and what is deleted can be given back to the
// disk, unless the file is older than that setting.
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

// maxLinks is how many links a path may lead over.
const maxLinks = 40

// realPath gives the one path of a file: by whatever link it is named, its lock
// lies beside the file itself.
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

// makeDatabase makes the file of a new database. An empty one that is there
// already was emptied, or is no database yet: which, only people know.
func makeDatabase(path string, anew bool) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 && !anew {
		return contracts.Errorf(contracts.CodeConflict,
			"the file %s is there and empty: if a database was in it, restore it; to make a new one, start with --init or remove the file", path)
	}
	return makeFile(path)
}

// makeFile makes the file if it is missing, readable by its owner only: it
// holds secrets. One that exists is not even opened: closing it would free the
// locks that this process may have on it.
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
