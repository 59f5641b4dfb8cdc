-- Which failure groups somebody was told of.

CREATE TABLE failure_alerts (
    consumer      text        COLLATE "C" NOT NULL,
    failure_group bytea       NOT NULL CHECK (octet_length(failure_group) = 16),
    up_to         bigint      NOT NULL DEFAULT 0,
    window_start  timestamptz,
    window_until  timestamptz,
    in_hand       boolean     NOT NULL DEFAULT false,
    failures      bigint      NOT NULL DEFAULT 0 CHECK (failures >= 0),
    leased_by     text,
    not_before    timestamptz,
    PRIMARY KEY (consumer, failure_group),
    CONSTRAINT failure_alerts_window_check CHECK ((window_start IS NULL) = (window_until IS NULL))
);

COMMENT ON TABLE failure_alerts IS 'Which failure groups somebody was told of.';
COMMENT ON COLUMN failure_alerts.up_to IS 'The newest letter that an alert has told of.';
COMMENT ON COLUMN failure_alerts.window_until IS 'Until then there is one alert at most.';
COMMENT ON COLUMN failure_alerts.in_hand IS 'The alert of the window is to be sent, and was not sent yet.';
COMMENT ON COLUMN failure_alerts.failures IS 'How often sending it has failed.';
COMMENT ON COLUMN failure_alerts.not_before IS 'Nobody sends it before.';

-- What is open is little when all is well, so looking for what is new costs little.
CREATE INDEX dead_letters_open ON dead_letters (consumer, failure_group, id)
    WHERE state = 'open' AND linked_to IS NULL;
