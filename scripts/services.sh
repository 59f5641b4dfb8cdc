#!/usr/bin/env bash
# Private PostgreSQL, Redis and RabbitMQ for the tests, on free loopback ports, apart from any
# others on the machine. Everything they write is under target/services/ (or PAYONCE_SERVICES_DIR).
#
#   scripts/services.sh up              start what is not running; prints the environment
#   scripts/services.sh down [--wipe]   stop them; --wipe also removes their data and ports
#   scripts/services.sh env             print the environment: eval "$(scripts/services.sh env)"
#   scripts/services.sh status          what runs; the exit code is 0 when all of it does
#   scripts/services.sh start|stop|restart|kill postgres|redis|rabbitmq
#                                       one service, on the same port and data; kill is SIGKILL
#   scripts/services.sh rabbitmqctl ARGUMENTS
#                                       RabbitMQ's own tool, on this RabbitMQ
#
# Runs on Linux, as root or as an ordinary user. As root, missing servers are installed with apt-get
# where there is one.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
SELF=$ROOT/scripts/$(basename "${BASH_SOURCE[0]}")
SERVICES=(postgres redis rabbitmq)
PORT_NAMES=(PG_PORT REDIS_PORT AMQP_PORT API_PORT DIST_PORT EPMD_PORT)
START_SECONDS=120
STOP_SECONDS=60

say() { printf 'services: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"
}

# The caller's settings for other servers must not reach these.
for name in "${!PG@}" "${!RABBITMQ_@}" "${!ERL_@}"; do
  unset "$name"
done
unset name NOTIFY_SOCKET ERLANG_HOME

# --- where things are ---------------------------------------------------------------------------

DIR=${PAYONCE_SERVICES_DIR:-$ROOT/target/services}
DIR=$(realpath -m "$DIR")
DIR_ID=$(printf '%s' "$DIR" | cksum | cut -d' ' -f1)
NODE=payonce_$DIR_ID@localhost
PG_PORT='' REDIS_PORT='' AMQP_PORT='' API_PORT='' DIST_PORT='' EPMD_PORT='' PG_ROOT=''

open_dir() {
  mkdir -p "$DIR/run" "$DIR/log"
  if command -v flock >/dev/null; then
    exec 9>"$DIR/lock"
    flock -w 300 9 || die "another run of this script holds $DIR/lock"
  fi
}

load_state() {
  local key value
  [[ -r $DIR/state ]] || return 1
  while IFS='=' read -r key value; do
    case $key in
      PG_PORT | REDIS_PORT | AMQP_PORT | API_PORT | DIST_PORT | EPMD_PORT | PG_ROOT)
        printf -v "$key" '%s' "$value"
        ;;
    esac
  done <"$DIR/state"
}

save_state() {
  local key
  for key in "${PORT_NAMES[@]}" PG_ROOT; do
    printf '%s=%s\n' "$key" "${!key}"
  done >"$DIR/state.new"
  mv "$DIR/state.new" "$DIR/state"
}

# --- ports --------------------------------------------------------------------------------------

# Whether a socket has this local port; with `0A`, whether one listens on it.
port_used() {
  local hex
  printf -v hex '%04X' "$1"
  grep -Eqs "^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F]+:[0-9A-F]+ ${2:-}" /proc/net/tcp /proc/net/tcp6
}

# Below the usual range of outgoing connections, so that none of them takes the port while its
# service is stopped.
pick_port() {
  local port other _
  for _ in {1..200}; do
    port=$((20000 + RANDOM % 12000))
    for other in "${PORT_NAMES[@]}"; do
      [[ ${!other} != "$port" ]] || continue 2
    done
    port_used "$port" || {
      printf -v "$1" '%s' "$port"
      return
    }
  done
  die 'found no free port'
}

ports_of() {
  case $1 in
    postgres) echo PG_PORT ;;
    redis) echo REDIS_PORT ;;
    epmd) echo EPMD_PORT ;;
    rabbitmq) echo AMQP_PORT API_PORT DIST_PORT ;;
  esac
}

# New ports in place of those that something else listens on; fails when there were none.
repick_ports() {
  local key changed=1
  for key in $(ports_of "$1"); do
    if [[ -z ${!key} ]] || port_used "${!key}" 0A; then
      [[ -z ${!key} ]] || say "$1: port ${!key} is taken, choosing another"
      pick_port "$key"
      changed=0
    fi
  done
  save_state
  return "$changed"
}

check_ports() {
  local key
  for key in $(ports_of "$1"); do
    ! port_used "${!key}" 0A || die "$1: port ${!key} is taken by something else; \`up\` chooses another"
  done
}

# --- processes ----------------------------------------------------------------------------------

home_of() {
  case $1 in
    postgres) echo "${PG_ROOT:-$DIR/postgres}/data" ;;
    *) echo "$DIR/$1" ;;
  esac
}

# A process is ours when it runs in its service's folder; a process id alone may be used again.
pid_of() {
  local file=$DIR/run/$1.pid home pid stat
  home=$(home_of "$1")
  [[ $1 != postgres ]] || file=$home/postmaster.pid
  read -r pid 2>/dev/null <"$file" || return 1
  [[ $pid =~ ^[0-9]+$ && $(readlink "/proc/$pid/cwd" || true) == "$home" ]] || return 1
  stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
  [[ ${stat##*) } != Z* ]] || return 1
  echo "$pid"
}

running() { pid_of "$1" >/dev/null; }

# The servers' processes in folders under $1, whatever the process id files say; with
# `deleted`, only those whose folder was removed under them (`cargo clean`).
processes_in() {
  local proc cwd comm
  find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -printf '%h %l\n' 2>/dev/null |
    while read -r proc cwd; do
      [[ $cwd == "$1"* ]] || continue
      [[ ${2:-} != deleted || $cwd == *' (deleted)' ]] || continue
      read -r comm 2>/dev/null <"$proc/comm" || continue
      case $comm in
        postgres | redis-server | beam.smp | epmd | rabbitmq-server | erl_child_setup | inet_gethost)
          echo "${proc#/proc/}"
          ;;
      esac
    done || true
}

kill_in() {
  local pids try
  for try in {1..50}; do
    pids=$(processes_in "$@")
    [[ -n $pids ]] || return 0
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  say "still running: ${pids//$'\n'/ } (after $try tries)"
}

# How the names of this checkout's temporary folders for postgres begin.
pg_temporary() { echo "$(realpath -m "$1")/payonce-pg-$DIR_ID."; }

kill_lost() {
  local base
  kill_in "$DIR/" deleted
  for base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
    kill_in "$(pg_temporary "$base")" deleted
  done
}

close_fds() {
  local fd
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    if ((fd > 2 && fd != 255)); then
      eval "exec $fd>&-"
    fi
  done
}

# Starts a command in its service's folder, in a session of its own and with none of our files.
launch() {
  local name=$1 before=$PWD
  shift
  cd "$(home_of "$name")"
  (
    exec </dev/null >>"$DIR/log/$name.log" 2>&1
    close_fds
    exec setsid "$@"
  ) &
  echo "$!" >"$DIR/run/$name.pid"
  cd "$before"
}

# Waits until `answers_NAME`; fails when the process ends or the time is over.
await() {
  local name=$1 deadline=$((SECONDS + START_SECONDS))
  sleep 0.1
  until "answers_$name"; do
    if ! running "$name" || ((SECONDS > deadline)); then
      say "$name does not answer; the end of $DIR/log/$name.log:"
      tail -n 20 "$DIR/log/$name.log" >&2 || true
      return 1
    fi
    sleep 0.2
  done
}

await_end() {
  local deadline=$((SECONDS + STOP_SECONDS))
  while running "$1"; do
    ((SECONDS <= deadline)) || return 1
    sleep 0.1
  done
}

# --- programs -----------------------------------------------------------------------------------

# The newest PostgreSQL, or the one that made the data.
pg_bin() {
  local version='' bin
  [[ -z $PG_ROOT || ! -r $PG_ROOT/data/PG_VERSION ]] || read -r version <"$PG_ROOT/data/PG_VERSION"
  for bin in $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin | sort -rV) \
    "$(dirname "$(command -v initdb || true)")"; do
    [[ -x $bin/initdb && -x $bin/pg_ctl && -x $bin/postgres && -x $bin/psql ]] || continue
    [[ -z $version || $("$bin/postgres" --version) == *" $version"[.\ a-z]* ]] || continue
    echo "$bin"
    return
  done
  return 1
}

# Debian's command in PATH changes to another user, so the script behind it comes first.
rabbitmq_server() {
  local program
  for program in /usr/lib/rabbitmq/bin/rabbitmq-server \
    /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server \
    "$(command -v rabbitmq-server || true)"; do
    if [[ -x $program ]] && command -v erl >/dev/null; then
      echo "$program"
      return
    fi
  done
  return 1
}

epmd_program() {
  local program
  for program in "$(command -v epmd || true)" \
    "$(dirname "$(readlink -f "$(command -v erl || echo /)")")"/../erts-*/bin/epmd \
    /usr/lib/erlang/erts-*/bin/epmd; do
    [[ -x $program ]] || continue
    echo "$program"
    return
  done
  return 1
}

missing_packages() {
  [[ -n $(pg_bin || true) ]] || echo postgresql
  command -v redis-server >/dev/null || echo redis-server
  [[ -n $(rabbitmq_server || true) && -n $(epmd_program || true) ]] || echo rabbitmq-server
}

install_packages() {
  local policy=/usr/sbin/policy-rc.d code=0
  say "installing: $*"
  # Packages must not start services of their own.
  if [[ -e $policy ]]; then
    policy=''
  else
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    # shellcheck disable=SC2064
    trap "rm -f $policy" EXIT
  fi
  {
    apt-get update &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
  } >&2 </dev/null 9>&- || code=$?
  if [[ -n $policy ]]; then
    rm -f "$policy"
    trap - EXIT
  fi
  return "$code"
}

need_programs() {
  local packages
  if [[ ! -r /proc/self/stat ]] || ! command -v setsid >/dev/null; then
    die "this script needs Linux with util-linux. $OWN_SERVICES"
  fi
  if [[ -n $PG_ROOT && -r $PG_ROOT/data/PG_VERSION && -z $(pg_bin || true) ]]; then
    die "no PostgreSQL $(cat "$PG_ROOT/data/PG_VERSION") for the data in $PG_ROOT; \`down --wipe\` removes it"
  fi
  mapfile -t packages < <(missing_packages)
  ((${#packages[@]})) || return 0
  if ((EUID == 0)) && command -v apt-get >/dev/null; then
    install_packages "${packages[@]}" || say 'the installation failed'
    mapfile -t packages < <(missing_packages)
    ((${#packages[@]})) || return 0
  fi
  die "not found: ${packages[*]}. Install them (Debian: apt-get install ${packages[*]}). $OWN_SERVICES"
}

OWN_SERVICES='To use services of your own instead, set PAYONCE_TEST_DATABASE_URL, PAYONCE_TEST_AMQP_URL,
PAYONCE_TEST_REDIS_URL and PAYONCE_TEST_RABBITMQ_API (the URL of the management plugin, with user and password).'

# --- postgres -----------------------------------------------------------------------------------

# PostgreSQL does not run as root.
as_pg() {
  if ((EUID != 0)); then
    "$@"
  elif command -v setpriv >/dev/null; then
    setpriv --reuid postgres --regid "$(id -g postgres)" --init-groups "$@"
  else
    runuser -u postgres -- "$@"
  fi
}

pg_usable() {
  mkdir -p "$1" && chmod 700 "$1" || return 1
  ((EUID == 0)) || return 0
  chown postgres: "$1" && (cd / && as_pg test -w "$1" -a -x "$1")
}

# The folder of the data, with a temporary one when the user postgres cannot reach ours.
pg_prepare() {
  local base
  if ((EUID == 0)); then
    id postgres >/dev/null 2>&1 || die "PostgreSQL does not run as root and there is no user postgres. $OWN_SERVICES"
  fi
  [[ -z $PG_ROOT || ! -d $PG_ROOT ]] || ! pg_usable "$PG_ROOT" || return 0
  PG_ROOT=$DIR/postgres
  if ! pg_usable "$PG_ROOT"; then
    rmdir "$PG_ROOT" 2>/dev/null || true
    PG_ROOT=''
    for base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
      base=$(mktemp -d "$(pg_temporary "$base")XXXXXX") || continue
      if pg_usable "$base"; then
        PG_ROOT=$base
        break
      fi
      rmdir "$base"
    done
    [[ -n $PG_ROOT ]] || die 'found no folder that the user postgres can use; set TMPDIR to one'
    say "postgres: its data is in $PG_ROOT, since the user postgres cannot reach $DIR"
  fi
  save_state
}

pg_run() {
  (
    cd "$PG_ROOT"
    export HOME=$PG_ROOT LC_ALL=C
    exec </dev/null >>"$DIR/log/postgres-setup.log" 2>&1
    close_fds
    as_pg "$@"
  )
}

pg_sql() {
  "$(pg_bin)/psql" -XAtq -v ON_ERROR_STOP=1 -c "$2" \
    "host=127.0.0.1 port=$PG_PORT user=payonce dbname=$1 connect_timeout=5" </dev/null
}

answers_postgres() { [[ $(pg_sql payonce 'SELECT 1' 2>/dev/null) == 1 ]]; }

start_postgres() {
  local bin new data log
  pg_prepare
  bin=$(pg_bin)
  new=$PG_ROOT/data.new data=$PG_ROOT/data log=$PG_ROOT/postgres.log
  if [[ ! -d $data ]]; then
    rm -rf "$new"
    pg_run "$bin/initdb" -D "$new" -U payonce --auth=trust --encoding=UTF8 --locale=C || {
      tail -n 20 "$DIR/log/postgres-setup.log" >&2
      return 1
    }
    cat >>"$new/postgresql.conf" <<-CONF
		listen_addresses = '127.0.0.1'
		unix_socket_directories = ''
		max_connections = 300
		fsync = on
		synchronous_commit = on
		full_page_writes = on
		logging_collector = off
		log_line_prefix = '%m [%p] %d '
		CONF
    mv "$new" "$data"
  fi
  # No process of this data is left (see `start`). After a kill the file names one which init may
  # not have reaped yet, and the server would take it for another server.
  rm -f "$data/postmaster.pid"
  # pg_ctl starts the server in a session of its own.
  pg_run "$bin/pg_ctl" -D "$data" -l "$log" -o "-p $PG_PORT" -w -t "$START_SECONDS" -s start || {
    say "postgres does not start; the end of $log:"
    tail -n 20 "$log" "$DIR/log/postgres-setup.log" >&2 || true
    return 1
  }
  if [[ $(pg_sql postgres "SELECT 1 FROM pg_database WHERE datname = 'payonce'") != 1 ]]; then
    pg_sql postgres 'CREATE DATABASE payonce'
  fi
  answers_postgres
}

stop_postgres() {
  pg_run "$(pg_bin)/pg_ctl" -D "$PG_ROOT/data" -m fast -w -t "$STOP_SECONDS" -s stop
}

# --- redis --------------------------------------------------------------------------------------

answers_redis() {
  local pid
  pid=$(pid_of redis) || return 1
  # shellcheck disable=SC2016
  timeout 5 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "INFO server\r\nQUIT\r\n" >&3 && cat <&3' \
    _ "$REDIS_PORT" 2>/dev/null | grep -c "^process_id:$pid" >/dev/null
}

start_redis() {
  mkdir -p "$DIR/redis"
  launch redis redis-server --bind 127.0.0.1 --port "$REDIS_PORT" --dir "$DIR/redis" \
    --save '' --appendonly no --daemonize no --databases 16
  await redis
}

stop_redis() {
  kill -TERM "$(pid_of redis)" && await_end redis
}

# --- rabbitmq -----------------------------------------------------------------------------------

# The port mapper of Erlang: one of our own, so that the machine's is not used.
start_epmd() {
  local program
  ! running epmd || return 0
  program=$(epmd_program)
  mkdir -p "$DIR/epmd"
  launch epmd "$program" -port "$EPMD_PORT" -address 127.0.0.1
  await epmd
}

answers_epmd() { port_used "$EPMD_PORT" 0A; }

answers_rabbitmq() {
  local first
  # shellcheck disable=SC2016
  first=$(timeout 5 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "AMQP\000\000\011\001" >&3 && head -c 1 <&3' \
    _ "$AMQP_PORT" 2>/dev/null | od -An -tu1) || return 1
  [[ ${first// /} == 1 ]] || return 1
  # guest:guest
  # shellcheck disable=SC2016
  timeout 10 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" &&
    printf "GET /api/overview HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n\r\n" >&3 &&
    cat <&3' _ "$API_PORT" 2>/dev/null | grep -c "\"node\":\"$NODE\"" >/dev/null
}

start_rabbitmq() {
  local home=$DIR/rabbitmq program
  program=$(rabbitmq_server)
  mkdir -p "$home/data" "$home/conf.d" "$home/generated"
  if [[ ! -e $home/.erlang.cookie ]]; then
    (umask 377 && head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$home/.erlang.cookie")
  fi
  : >"$home/rabbitmq-env.conf"
  echo '[].' >"$home/advanced.config"
  echo '[rabbitmq_management].' >"$home/enabled_plugins"
  cat >"$home/rabbitmq.conf" <<-CONF
	listeners.tcp.1 = 127.0.0.1:$AMQP_PORT
	management.tcp.ip = 127.0.0.1
	management.tcp.port = $API_PORT
	management.rates_mode = basic
	vm_memory_high_watermark.absolute = 1GB
	disk_free_limit.absolute = 50MB
	log.file.level = info
	log.connection.level = warning
	CONF
  start_epmd || return 1
  # RUNNING_UNDER_SYSTEMD: the server takes the place of its shell script, so there is one process.
  launch rabbitmq env \
    HOME="$home" LC_ALL=C.UTF-8 RUNNING_UNDER_SYSTEMD=true \
    ERL_EPMD_PORT="$EPMD_PORT" ERL_EPMD_ADDRESS=127.0.0.1 \
    RABBITMQ_NODENAME="$NODE" \
    RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
    RABBITMQ_NODE_PORT="$AMQP_PORT" \
    RABBITMQ_DIST_PORT="$DIST_PORT" \
    RABBITMQ_BASE="$home" \
    RABBITMQ_MNESIA_BASE="$home/data" \
    RABBITMQ_LOG_BASE="$DIR/log" \
    RABBITMQ_CONF_ENV_FILE="$home/rabbitmq-env.conf" \
    RABBITMQ_CONFIG_FILE="$home/rabbitmq.conf" \
    RABBITMQ_CONFIG_FILES="$home/conf.d" \
    RABBITMQ_ADVANCED_CONFIG_FILE="$home/advanced.config" \
    RABBITMQ_GENERATED_CONFIG_DIR="$home/generated" \
    RABBITMQ_ENABLED_PLUGINS_FILE="$home/enabled_plugins" \
    RABBITMQ_PID_FILE="$home/server.pid" \
    RABBITMQ_SCHEDULER_BIND_TYPE=u \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}' \
    "$program"
  await rabbitmq
}

stop_rabbitmq() {
  kill -TERM "$(pid_of rabbitmq)" && await_end rabbitmq
}

# --- commands -----------------------------------------------------------------------------------

# $2: `choose` takes new ports when others have taken ours.
start() {
  local name=$1 try
  ! running "$name" || return 0
  kill_in "$(home_of "$name")"
  for try in 1 2 3; do
    if [[ ${2:-} == choose ]]; then
      [[ $name != rabbitmq ]] || running epmd || repick_ports epmd || true
      repick_ports "$name" || true
    else
      [[ $name != rabbitmq ]] || running epmd || check_ports epmd
      check_ports "$name"
    fi
    say "starting $name"
    ! "start_$name" || return 0
    kill_in "$(home_of "$name")"
    # Someone else may have taken a port in between; otherwise trying again does not help.
    if [[ ${2:-} != choose || $try == 3 ]] || ! repick_ports "$name"; then
      break
    fi
  done
  die "$name did not start"
}

stop() {
  local name=$1
  running "$name" || return 0
  say "stopping $name"
  "stop_$name" || say "$name did not stop in time and is killed"
  kill_in "$(home_of "$name")"
}

up() {
  local name
  load_state || true
  kill_lost
  need_programs
  save_state
  for name in "${SERVICES[@]}"; do
    start "$name" choose
  done
  print_env
}

down() {
  local name base
  load_state || true
  kill_lost
  for name in rabbitmq redis postgres; do
    stop "$name"
  done
  kill_in "$DIR/"
  [[ -z $PG_ROOT ]] || kill_in "$PG_ROOT/"
  rm -f "$DIR"/run/*.pid
  [[ ${1:-} == --wipe ]] || return 0
  for base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
    rm -rf "$(pg_temporary "$base")"??????
  done
  rm -rf "$DIR/postgres" "$DIR/redis" "$DIR/rabbitmq" "$DIR/epmd" "$DIR/run" "$DIR/log" "$DIR/state"
  say 'stopped, and the data removed'
}

print_env() {
  local database=postgres://payonce@127.0.0.1:$PG_PORT/payonce
  local amqp=amqp://guest:guest@127.0.0.1:$AMQP_PORT/%2f
  local redis=redis://127.0.0.1:$REDIS_PORT/0
  local line
  # shellcheck disable=SC2001
  for line in \
    "DATABASE_URL=$database" \
    "AMQP_URL=$amqp" \
    "REDIS_URL=$redis" \
    "PAYONCE_TEST_DATABASE_URL=$database" \
    "PAYONCE_TEST_AMQP_URL=$amqp" \
    "PAYONCE_TEST_REDIS_URL=$redis" \
    "PAYONCE_TEST_RABBITMQ_API=http://guest:guest@127.0.0.1:$API_PORT" \
    "PAYONCE_TEST_RABBITMQ_NODE=$NODE" \
    "PAYONCE_TEST_SERVICES=$SELF"; do
    printf "export %s='%s'\n" "${line%%=*}" "$(sed "s/'/'\\\\''/g" <<<"${line#*=}")"
  done
}

env_of_running() {
  local name down=()
  load_state || die "the services are not up (run: $SELF up)"
  for name in "${SERVICES[@]}"; do
    running "$name" || down+=("$name")
  done
  ((${#down[@]} == 0)) || die "not running: ${down[*]} (run: $SELF up)"
  print_env
}

status() {
  local name pid port code=0
  load_state || true
  for name in "${SERVICES[@]}"; do
    port=$(ports_of "$name" | cut -d' ' -f1)
    if ! pid=$(pid_of "$name"); then
      echo "$name: not running"
      code=3
    elif "answers_$name"; then
      echo "$name: running, process $pid, port ${!port}"
    else
      echo "$name: process $pid does not answer on port ${!port}"
      code=3
    fi
  done
  return "$code"
}

one() {
  local action=$1 name=${2:-}
  case $name in
    postgres | redis | rabbitmq) ;;
    *) die "$action: which one? postgres, redis or rabbitmq" ;;
  esac
  [[ -r $DIR/state ]] || die "the services were never started (run: $SELF up)"
  open_dir
  load_state
  case $action in
    start)
      need_programs
      start "$name"
      ;;
    stop) stop "$name" ;;
    restart)
      need_programs
      stop "$name"
      start "$name"
      ;;
    kill)
      kill_in "$(home_of "$name")"
      say "killed $name"
      ;;
  esac
}

ctl() {
  local home=$DIR/rabbitmq program
  load_state || die "the services were never started (run: $SELF up)"
  program=$(dirname "$(rabbitmq_server)")/rabbitmqctl
  HOME="$home" LC_ALL=C.UTF-8 ERL_EPMD_PORT="$EPMD_PORT" RABBITMQ_NODENAME="$NODE" \
    RABBITMQ_CONF_ENV_FILE="$home/rabbitmq-env.conf" "$program" "$@"
}

case ${1:-} in
  up)
    open_dir
    up
    ;;
  down)
    [[ ${2:-} == '' || ${2:-} == --wipe ]] || die "down: unknown argument $2"
    [[ -d $DIR ]] || {
      kill_lost
      exit 0
    }
    open_dir
    down "${2:-}"
    ;;
  env) env_of_running ;;
  status) status ;;
  start | stop | restart | kill) one "$@" ;;
  rabbitmqctl) ctl "${@:2}" ;;
  help | -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
