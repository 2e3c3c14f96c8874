-- history.sqlite: what the bundles below a results folder say, in one place. A cache: the bundles are the truth.
CREATE TABLE runs (
    id           INTEGER PRIMARY KEY,
    folder       TEXT NOT NULL UNIQUE, -- relative to the results folder
    fingerprint  TEXT NOT NULL,        -- sizes and times of the files that were read
    bench        TEXT NOT NULL,        -- the bench file's name without its ending
    measurements TEXT NOT NULL,        -- path, or path,ctime...
    image        TEXT NOT NULL,        -- file name of the image
    image_sha256 TEXT NOT NULL,
    started_utc  TEXT NOT NULL,        -- ISO 8601; empty where it is not known
    status       TEXT NOT NULL,        -- complete, partial; empty without summary
    outcome      TEXT NOT NULL,
    exit         INTEGER,
    reason       TEXT NOT NULL,        -- the decisive one
    emulated     INTEGER,
    clock        TEXT NOT NULL,        -- live, exact
    seed         TEXT NOT NULL,        -- decimal: it may exceed 63 bits
    problem      TEXT NOT NULL         -- why there are no figures; empty: they were read
);
CREATE TABLE figures (
    run         INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    measurement TEXT NOT NULL,
    variant     TEXT NOT NULL,
    clock_id    TEXT NOT NULL,
    cores       TEXT NOT NULL,
    mode        TEXT NOT NULL,
    tie         TEXT NOT NULL,
    rate_hz     TEXT NOT NULL,
    metric      TEXT NOT NULL,
    unit        TEXT NOT NULL,
    n           INTEGER NOT NULL,
    sessions    INTEGER NOT NULL,
    value       REAL,
    ci95_low    REAL,
    ci95_high   REAL,
    u_systematic REAL,
    verdict     TEXT NOT NULL
);
CREATE INDEX figures_of_run ON figures (run);
CREATE INDEX figures_of_metric ON figures (metric, measurement);
CREATE TABLE nights (
    folder      TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    plan        TEXT NOT NULL,
    bench       TEXT NOT NULL,
    started_utc TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    exit        INTEGER,
    reasons     TEXT NOT NULL,         -- one a line
    health      TEXT NOT NULL,         -- well, sick; empty: not measured
    offline     TEXT NOT NULL,         -- why the bench was sick or offline; one reason a line
    problem     TEXT NOT NULL
);
CREATE TABLE steps (
    folder  TEXT PRIMARY KEY,          -- the run's, relative to the results folder
    night   TEXT NOT NULL REFERENCES nights (folder) ON DELETE CASCADE,
    measure TEXT NOT NULL,             -- the plan's name for it; of the golden image: health
    image   TEXT NOT NULL,             -- the plan's name for it; golden
    round   INTEGER NOT NULL
);
CREATE INDEX steps_of_night ON steps (night);
