-- A quota that several gateways use up, in the counter that Tyk has for it: what is used, until it renews.
-- KEYS[1]: the counter. ARGV: max, renewal_ms or 0 for never, want, unused of what was given before, and when that renews: in
-- milliseconds since 1970, or -1 for never; how many of `want` are used already, which count even if they are too many; the generation of
-- what was given before; 1 to begin anew
local key, max, renewal, want = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local unused, ends, told = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6] or 0)
local given = tonumber(ARGV[7] or 0)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- The generation of a counter is when it began, whoever has deleted the one before. It is beside the counter, in the same slot of a cluster; a
-- name with a brace that is no tag has none.
local place
local open = key:find('{', 1, true)
local close = open and key:find('}', open + 1, true)
if close and close > open + 1 then
  place = 'tollgate.generation.' .. key
elseif not key:find('}', 1, true) then
  place = 'tollgate.generation.{' .. key .. '}'
end
if ARGV[8] == '1' then redis.call('DEL', key) end
local known = redis.call('GET', key)
local generation = place and tonumber(redis.call('GET', place) or 0) or 0
if place and not known then generation = math.max(now, generation + 1) end
local used = tonumber(known or 0)
local function renews()
  local left = redis.call('PTTL', key)
  return left < 0 and -1 or now + left
end
-- What was given of another period, or before the counter was reset, counts for nothing.
if unused > 0 and used > 0 and given == generation and math.abs(renews() - ends) < 1000 then
  used = redis.call('DECRBY', key, math.min(unused, used))
end
local granted = told + math.max(math.min(want - told, max - used - told), 0)
if granted > 0 then
  used = redis.call('INCRBY', key, granted)
  -- The time to the renewal begins with the first use.
  if renewal > 0 and redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, renewal) end
  if place then
    -- A minute longer than the counter; a month for one that nobody uses and that never renews.
    local left = redis.call('PTTL', key)
    if not known then redis.call('SET', place, generation, 'PX', left < 0 and 2592000000 or left + 60000)
    elseif left < 0 then redis.call('PEXPIRE', place, 2592000000) end
  end
end
local left = redis.call('PTTL', key)
return { granted, max - used, left, left < 0 and -1 or now + left, generation }
