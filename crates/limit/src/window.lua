-- Places in a window that several gateways share; limit/lease.rs says what for, limit/lease/simulation.rs has the same in Rust.
-- KEYS[1]: a hash. Field m: what this memory is called. g<bucket>: places given in it. e<bucket>: places that may be used until it ends.
-- ARGV: limit, window_us, buckets, singly, scarce, plenty, scarce_us, plenty_us, the memory's name as the gateway knows it or 0,
-- of a lease that is over given, until, places, unused; then pairs of age_us and places: what passed without this server
local key = KEYS[1]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local width = math.max(math.floor(window / tonumber(ARGV[3])), 1)
local singly = ARGV[4] == '1'
local scarce, plenty, scarce_us, plenty_us = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local bucket, oldest = math.floor(now / width), math.floor((now - window) / width)
-- No lease ends later than this: what does was filed before the clock was set back.
local latest = math.floor((now + math.max(plenty_us, scarce_us, window / 2)) / width) + 1
local function add(letter, at, places)
  if places ~= 0 then redis.call('HINCRBY', key, letter .. string.format('%.0f', at), places) end
end
local function at(letter, bucket) return tonumber(redis.call('HGET', key, letter .. bucket) or 0) end
local function keep() redis.call('PEXPIRE', key, math.ceil(window * 2.5 / 1000) + 2000) end

local memory, known = tonumber(redis.call('HGET', key, 'm') or 0), tonumber(ARGV[9])
if memory == 0 then
  memory = now
  redis.call('HSET', key, 'm', string.format('%.0f', now))
  keep()
end
if known ~= 0 and known ~= memory then return { 0, 0, 0, 0, 0, 0, memory, 1 } end

local places, unused = tonumber(ARGV[12]), tonumber(ARGV[13])
if places > 0 and at('e', ARGV[11]) >= places then
  if tonumber(ARGV[11]) > bucket then
    -- It is used up: no longer one that may be used later.
    add('e', ARGV[11], -places)
    add('e', bucket, places - unused)
  else
    add('e', ARGV[11], -unused)
  end
  if unused > 0 then add('g', ARGV[10], -math.min(unused, at('g', ARGV[10]))) end
end
for i = 14, #ARGV, 2 do
  local then_bucket = math.floor((now - tonumber(ARGV[i])) / width)
  add('g', then_bucket, tonumber(ARGV[i + 1]))
  add('e', then_bucket, tonumber(ARGV[i + 1]))
end

local given, usable, first_g, first_e, gone = 0, 0, nil, nil, {}
local all = redis.call('HGETALL', key)
for i = 1, #all, 2 do
  local letter, place, count = string.sub(all[i], 1, 1), tonumber(string.sub(all[i], 2)), tonumber(all[i + 1])
  if letter ~= 'm' then
    if place < oldest or count <= 0 then
      gone[#gone + 1] = all[i]
    else
      local last = letter == 'g' and bucket or latest
      if place > last then
        gone[#gone + 1] = all[i]
        place = last
        add(letter, last, count)
      end
      if letter == 'g' then
        given = given + count
        first_g = math.min(first_g or place, place)
      else
        usable = usable + count
        first_e = math.min(first_e or place, place)
      end
    end
  end
end
if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end

local roof = singly and limit or math.floor(limit * 105 / 100)
local free_given, free_usable = math.max(limit - given, 0), math.max(roof - usable, 0)
local free = math.min(free_given, free_usable)
local want, life = scarce, scarce_us
if not singly and (usable + plenty) * 2 <= limit then want, life = plenty, plenty_us end
places = math.min(want, free)
local again = 0
if places < want then
  local first = free_given < free_usable and first_g or first_e
  if first then again = math.max((first + 1) * width + window - now, 1) end
end
local till = math.floor((now + life) / width)
add('g', bucket, places)
add('e', till, places)
if places > 0 or #ARGV >= 14 then keep() end
return { places, life, bucket, till, math.ceil(again), free - places, memory, 0 }
