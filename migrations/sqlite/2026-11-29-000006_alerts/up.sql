-- Which failure groups somebody was told of.
CREATE TABLE failure_alerts (
    consumer      TEXT    NOT NULL,
    failure_group BLOB    NOT NULL CHECK (length(failure_group) = 16),
    -- The newest letter that an alert has told of.
    up_to         INTEGER NOT NULL DEFAULT 0,
    window_start  INTEGER,
    -- Until then there is one alert at most.
    window_until  INTEGER,
    -- The alert of the window is to be sent, and was not sent yet.
    in_hand       INTEGER NOT NULL DEFAULT 0 CHECK (in_hand IN (0, 1)),
    -- How often sending it has failed.
    failures      INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    leased_by     TEXT,
    -- Nobody sends it before.
    not_before    INTEGER,
    PRIMARY KEY (consumer, failure_group),
    CONSTRAINT failure_alerts_window_check CHECK ((window_start IS NULL) = (window_until IS NULL))
) STRICT, WITHOUT ROWID;

-- What is open is little when all is well, so looking for what is new costs little.
CREATE INDEX dead_letters_open ON dead_letters (consumer, failure_group, id)
    WHERE state = 'open' AND linked_to IS NULL;
