"""Verbs of the first person beside which a depictive stands (*dolazim mokar*), whatever their tag."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import table

CROATIAN = table(
    "vraćam vratim dolazim dođem odlazim odem idem stižem stignem ležem liježem lijegam budim"
    " probudim ustajem ustanem izlazim izađem ulazim uđem sjedim sedim sjedam stojim živim"
    " spavam hodam putujem plovim krećem krenem silazim siđem trčim lutam plešem šetam večeram ručam"
    " doručkujem odrastam zaspim polazim ostajem ostanem zaspem lijegem legnem"
)
SLOVENIAN = table(
    "vračam vrnem prihajam pridem odhajam odidem grem hodim ležem legam zbujam zbudim vstajam"
    " vstanem sedim sedem stojim živim spim potujem letim plavam stopam vstopim vstopam izstopim"
    " tečem tavam večerjam zajtrkujem zaspim smučam kolesarim pešačim"
)
BULGARIAN = table(
    "връщам прибирам идвам дойда отивам отида тръгвам тръгна лягам будя събуждам събудя ставам"
    " стана излизам изляза влизам вляза седя сядам стоя живея спя ходя пътувам тичам летя вървя"
    " вечерям закусвам заспивам пристигам лежа танцувам прибера"
)
RUSSIAN = table(
    "возвращаюсь вернусь прихожу приду ухожу уйду иду хожу еду езжу ложусь лягу просыпаюсь проснусь"
    " встаю встану выхожу выйду вхожу войду сижу сажусь стою живу сплю приезжаю приеду уезжаю уеду"
    " брожу бегаю гуляю засыпаю путешествую ужинаю завтракаю лежу прибегаю танцую"
)
UKRAINIAN = table(
    "повертаюся повертаюсь повернуся приходжу прийду йду іду ходжу їду їжджу лягаю ляжу прокидаюся"
    " прокидаюсь прокинуся встаю встану виходжу вийду входжу заходжу сиджу сідаю стою живу сплю"
    " приїжджаю приїду їздю блукаю бігаю гуляю засинаю подорожую вечеряю снідаю лежу танцюю вертаюся"
    " вертаюсь вертаю"
)
BELARUSIAN = table(
    "вяртаюся вярнуся прыходжу прыйду іду хаджу еду езджу кладуся лягу прачынаюся прачнуся ўстаю"
    " ўстану устаю выходжу выйду заходжу сяджу сяду стаю жыву сплю прыязджаю прыеду блукаю бегаю"
    " гуляю засынаю вандрую вячэраю снедаю ляжу танцую"
)
SLOVAK = table(
    "vraciam vrátim prichádzam prídem odchádzam odídem idem chodím líham ľahnem budím zobudím"
    " vstávam vstanem vychádzam vyjdem vchádzam sedím stojím žijem spím cestujem behám blúdim"
    " tancujem večeriam raňajkujem zaspávam zaspím ležím sadám bývam"
)
CZECH = table(
    "vracím vrátím přicházím přijdu odcházím odejdu jdu chodím lehám lehnu budím probudím vstávám"
    " vstanu vycházím vyjdu vcházím sedím stojím žiju žiji spím cestuji cestuju běhám bloudím tančím"
    " večeřím snídám usínám usnu ležím usedám bydlím jezdím jedu"
)
POLISH = table(
    "wracam wrócę przychodzę przyjdę odchodzę odejdę idę chodzę kładę budzę obudzę wstaję wstanę"
    " wychodzę wyjdę wchodzę siedzę siadam stoję żyję śpię podróżuję biegam błądzę tańczę zasypiam"
    " zasnę leżę mieszkam jadę jeżdżę przyjeżdżam wyjeżdżam"
)
