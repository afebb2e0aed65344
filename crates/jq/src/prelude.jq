# Functions that are defined by others, beyond those of jaq's core and in place of some of them. A definition sees only what stands before it.

def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def normals: select(isnormal);
def finites: select(isinfinite or isnan | not);

# Nobody reads what they would print.
def debug: .;
def debug(message): .;
def stderr: .;

def add(f): [f] | add;
def min: min_by(.);
def max: max_by(.);
def in(values): . as $name | values | has($name);
def inside(values): . as $part | values | contains($part);
def index($part): indices($part) | .[0];
def rindex($part): indices($part) | .[-1];
def toarray: if type == "array" then . else [.] end;
def abs: if type == "number" and . < 0 then - . else . end;
def isvalid(f): try (f | true) catch false;
def ascii: [.] | implode;
def flatten: flatten(infinite);
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("Out of bounds negative array index") else first(skip($n; f)) end;
def recurse_down: recurse;
def with_entries(f): to_entries | map(f) | from_entries;
def walk(f): def each: if type == "object" or type == "array" then map_values(each) else . end | f; each;
def transpose: if . == [] then [] else . as $rows | (map(length) | max) as $width
    | [range(0; $width) as $column | [range(0; $rows | length) as $row | $rows[$row][$column]]] end;
def combinations: if length == 0 then [] else .[0][] as $first | (.[1:] | combinations) as $rest | [$first] + $rest end;
def combinations($n): . as $values | [range(0; $n)] | map($values) | combinations;
def INDEX(rows; name): reduce rows as $row ({}; .[$row | name | tostring] |= $row);
def INDEX(name): INDEX(.[]; name);
def IN(values): any(values == .; .);
def IN(rows; values): any(rows == values; .);

def leaf_paths: paths(scalars);
def delpaths($paths): reduce ($paths | unique | reverse[]) as $path (.; if $path == [] then null elif getpath($path[:-1]) == null then . else getpath($path) |= empty end);
def del(f): delpaths([path(f)]);
def pick(f): . as $value | reduce path(f) as $path (null; setpath($path; $value | getpath($path)));
def tostream: path(def each: (.[]? | each), .; each) as $path
    | getpath($path)
    | reduce path(.[]?) as $next ([$path, .]; [$path + $next]);

def match(pattern; flags): _match(pattern; flags)[];
def match($pattern): if $pattern | type == "array" then match($pattern[0]; $pattern[1]) else match($pattern; null) end;
def test(pattern; flags): _test(pattern; flags);
def test($pattern): if $pattern | type == "array" then test($pattern[0]; $pattern[1]) else test($pattern; null) end;
def capture(pattern; flags): match(pattern; flags) | reduce (.captures[] | select(.name != null)) as $part ({}; .[$part.name] = $part.string);
def capture($pattern): if $pattern | type == "array" then capture($pattern[0]; $pattern[1]) else capture($pattern; null) end;
def scan(pattern; flags): match(pattern; flags + "g") | if .captures == [] then .string else [.captures[].string] end;
def scan($pattern): if $pattern | type == "array" then scan($pattern[0]; $pattern[1]) else scan($pattern; null) end;
def split(pattern; flags): [_pieces(pattern; flags + "g")[] | strings];
def splits(pattern; flags): split(pattern; flags)[];
def splits($pattern): splits($pattern; null);
def sub(pattern; f; flags): [_pieces(pattern; flags)[] | if type == "object" then [f] else [.] end]
    | if all(length == 1) then reduce .[] as $texts ([]; . + $texts) | add else reduce .[] as $texts (""; . + $texts[]) end;
def sub(pattern; f): sub(pattern; f; null);
def gsub(pattern; f; flags): sub(pattern; f; flags + "g");
def gsub(pattern; f): sub(pattern; f; "g");

def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def todateiso8601: todate;
def date: todate;
def dateadd(unit; $seconds): . + $seconds;
def datesub(unit; $seconds): . - $seconds;

def @text: tostring;
def @json: tojson;
