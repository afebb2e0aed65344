-- Places in fixed windows that several gateways share: one begins with the first place that is given in it.
-- KEYS[1]: a counter that is gone with its window. ARGV and answer: as in window.lua; a lease is filed under the end of its window, in
-- milliseconds since 1970, and there is no memory to name
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local want, life, filed, unused = tonumber(ARGV[5]), tonumber(ARGV[7]), tonumber(ARGV[10]), tonumber(ARGV[13])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local used, left = tonumber(redis.call('GET', key) or 0), redis.call('PTTL', key)
if unused > 0 and used > 0 and math.abs(now + left - filed) < 10 then
  used = redis.call('DECRBY', key, math.min(unused, used))
end
local told = 0
for i = 14, #ARGV, 2 do told = told + tonumber(ARGV[i + 1]) end
local places = math.min(want, math.max(limit - used - told, 0))
if told + places > 0 then
  used = redis.call('INCRBY', key, told + places)
  if left < 0 then
    left = math.max(math.floor(window / 1000), 1)
    redis.call('PEXPIRE', key, left)
  end
end
local again = places < want and math.max(left, 1) * 1000 or 0
return { places, life, now + left, now + left, again, math.max(limit - used, 0), 0, 0 }
